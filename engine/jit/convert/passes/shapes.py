"""`x.shape` -> the runtime's answer, a list as in eager mode, where a static Variable would give a tuple.

Before: `x.shape[:-1] + [n]`
After: `_jst.shape(x)[:-1] + [n]`
"""

from __future__ import annotations

import ast

from engine.jit.convert.quote import quote_expression
from engine.jit.convert.transform import Context, FunctionPass


class Shapes(FunctionPass):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        if not isinstance(node.func, ast.Attribute):
            return self.generic_visit(node)
        node.func.value = self.visit(node.func.value)  # `paddle.shape(x)` calls a function
        node.args = [self.visit(argument) for argument in node.args]
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if node.attr != "shape" or not isinstance(node.ctx, ast.Load):
            return node
        return quote_expression("_jst.shape(value)", node, value=node.value)


def run(tree: ast.Module, context: Context) -> ast.Module:
    Shapes(context).visit(tree)
    return tree
