"""`assert` -> the same statement over a test that becomes an operator where it is a symbolic Tensor.

Before: `assert a, b`
After: `assert _jst.convert_assert(a, lambda: b), b`
"""

from __future__ import annotations

import ast

from engine.jit.convert.quote import copied, quote_expression
from engine.jit.convert.transform import Context, FunctionPass, has_walrus


class Asserts(FunctionPass):
    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        self.generic_visit(node)
        if node.msg is None:
            node.test = quote_expression("_jst.convert_assert(test)", node.test, test=node.test)
        elif not has_walrus(node.msg):
            call = "_jst.convert_assert(test, lambda: message)"
            node.test = quote_expression(call, node.test, test=node.test, message=copied(node.msg))
        return node


def run(tree: ast.Module, context: Context) -> ast.Module:
    Asserts(context).visit(tree)
    return tree
