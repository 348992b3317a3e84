"""A call -> a call of the function's converted form, which is found when the call is made.

Before: `f(x, y=1)`
After: `_jst.call(f)(x, y=1)`
"""

from __future__ import annotations

import ast

from engine.jit.convert.quote import quote_expression
from engine.jit.convert.scope import is_runtime_call
from engine.jit.convert.transform import Context, FunctionPass


class Calls(FunctionPass):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if is_runtime_call(node) or (isinstance(node.func, ast.Name) and node.func.id == "super"):
            return node
        node.func = quote_expression("_jst.call(function)", node.func, function=node.func)
        return node


def run(tree: ast.Module, context: Context) -> ast.Module:
    Calls(context).visit(tree)
    return tree
