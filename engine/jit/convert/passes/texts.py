"""Values in f-strings and behind `%` -> a call that asks whether there is a text of them yet.

Before: `f"loss {loss:.2f}"`
After: `f"loss {_jst.shown(loss):.2f}"`
"""

from __future__ import annotations

import ast

from engine.jit.convert.quote import quote_expression
from engine.jit.convert.transform import Context, FunctionPass


class Texts(FunctionPass):
    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        self.generic_visit(node)
        node.value = quote_expression("_jst.shown(value)", node.value, value=node.value)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        left = node.left
        if isinstance(node.op, ast.Mod) and isinstance(left, ast.Constant) and isinstance(left.value, str):
            node.right = quote_expression("_jst.shown(value)", node.right, value=node.right)
        return node


def run(tree: ast.Module, context: Context) -> ast.Module:
    Texts(context).visit(tree)
    return tree
