"""A chained comparison -> its links, each evaluated only where the ones before hold; a test for equality or
membership -> the runtime's, since Python would ask a Tensor for its truth.

Before: `a < b <= c`
After: `_jst.compare_chain(a, "<", lambda: b, "<=", lambda: c)`

Before: `a == b` and `a not in b`
After: `_jst.equal(a, b)` and `_jst.lacks(a, b)`
"""

from __future__ import annotations

import ast

from engine.jit.convert.quote import quote_expression
from engine.jit.convert.transform import Context, FunctionPass, has_walrus

SIGNS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}

SINGLE: dict[type[ast.cmpop], str] = {
    ast.Eq: "_jst.equal(left, right)",
    ast.NotEq: "_jst.unequal(left, right)",
    ast.In: "_jst.holds(left, right)",
    ast.NotIn: "_jst.lacks(left, right)",
}


class Comparisons(FunctionPass):
    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) == 1 and type(node.ops[0]) in SINGLE and not _is_text(node):
            template = SINGLE[type(node.ops[0])]
            return quote_expression(template, node, left=node.left, right=node.comparators[0])
        if len(node.ops) < 2 or has_walrus(*node.comparators):
            return node
        call = quote_expression("_jst.compare_chain(first)", node, first=node.left)
        assert isinstance(call, ast.Call)
        for sign, value in zip(node.ops, node.comparators, strict=True):
            call.args.append(ast.copy_location(ast.Constant(SIGNS[type(sign)]), value))
            call.args.append(quote_expression("lambda: value", value, value=value))
        return call


def _is_text(node: ast.Compare) -> bool:
    """Whether one side is a text or None as it stands there: no Tensor is equal to it."""
    sides = (node.left, node.comparators[0])
    return any(isinstance(s, ast.Constant) and isinstance(s.value, str | None) for s in sides)


def run(tree: ast.Module, context: Context) -> ast.Module:
    Comparisons(context).visit(tree)
    return tree
