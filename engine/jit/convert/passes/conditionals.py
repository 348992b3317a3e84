"""The conditional expression -> a call with both sides kept for later.

Before: `b if a else c`
After: `_jst.convert_ifexp(a, lambda: b, lambda: c)`
"""

from __future__ import annotations

import ast

from engine.jit.convert.quote import quote_expression
from engine.jit.convert.transform import Context, FunctionPass, has_walrus


class Conditionals(FunctionPass):
    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        if has_walrus(node.body, node.orelse):
            return node
        template = "_jst.convert_ifexp(test, lambda: body, lambda: orelse)"
        return quote_expression(template, node, test=node.test, body=node.body, orelse=node.orelse)


def run(tree: ast.Module, context: Context) -> ast.Module:
    Conditionals(context).visit(tree)
    return tree
