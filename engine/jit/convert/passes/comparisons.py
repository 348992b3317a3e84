"""A chained comparison -> its links, each evaluated only where the ones before hold.

Before: `a < b <= c`
After: `_jst.compare_chain(a, "<", lambda: b, "<=", lambda: c)`
"""

from __future__ import annotations

import ast

from engine.jit.convert.quote import quote_expression
from engine.jit.convert.transform import Context, FunctionPass, has_walrus

SIGNS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip


class Comparisons(FunctionPass):
    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) < 2 or has_walrus(*node.comparators):
            return node
        call = quote_expression("_jst.compare_chain(first)", node, first=node.left)
        assert isinstance(call, ast.Call)
        for sign, value in zip(node.ops, node.comparators, strict=True):
            call.args.append(ast.copy_location(ast.Constant(SIGNS[type(sign)]), value))
            call.args.append(quote_expression("lambda: value", value, value=value))
        return call


def run(tree: ast.Module, context: Context) -> ast.Module:
    Comparisons(context).visit(tree)
    return tree
