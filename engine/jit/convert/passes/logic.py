"""`and`, `or`, `not` -> calls that keep Python's short circuit for Python values and build operators for
Tensors.

Before: `a and not b`
After: `_jst.logical_and(a, lambda: _jst.logical_not(b))`
"""

from __future__ import annotations

import ast

from engine.jit.convert.quote import quote_expression
from engine.jit.convert.transform import Context, FunctionPass, has_walrus


class Logic(FunctionPass):
    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        first, *others = node.values
        if has_walrus(*others):
            return node
        name = "logical_and" if isinstance(node.op, ast.And) else "logical_or"
        call = quote_expression("_jst.name(first)", node, first=first)
        assert isinstance(call, ast.Call)
        assert isinstance(call.func, ast.Attribute)
        call.func.attr = name
        call.args += [quote_expression("lambda: value", value, value=value) for value in others]
        return call

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Not):
            return node
        return quote_expression("_jst.logical_not(value)", node, value=node.operand)


def run(tree: ast.Module, context: Context) -> ast.Module:
    Logic(context).visit(tree)
    return tree
