"""A value unpacked into several targets -> the runtime's items, since a Tensor may not know how many it has.

Before: `a, (b, c) = x`
After: `a, part_0 = _jst.unpacked(x, 2)` and `b, c = _jst.unpacked(part_0, 2)`
"""

from __future__ import annotations

import ast

from engine.jit.convert.quote import quote, quote_expression
from engine.jit.convert.transform import Context, FunctionPass

DISPLAYS = (ast.Tuple, ast.List, ast.Constant)


class Unpacking(FunctionPass):
    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        node.value = self.visit(node.value)
        if len(node.targets) > 1 or isinstance(node.value, DISPLAYS) or targets(node.targets[0]) is None:
            return node
        return stored(node.targets[0], node.value, node, self.context)


def stored(target: ast.expr, value: ast.expr, at: ast.AST, context: Context) -> list[ast.stmt]:
    """Statements that store the value in the target."""
    count = targets(target)
    if count is None:
        return quote("target = value", at, target=target, value=value)
    assert isinstance(target, ast.Tuple | ast.List)
    later: list[ast.stmt] = []
    for place, inner in enumerate(target.elts):
        if targets(inner) is not None:
            name = context.name("part")
            target.elts[place] = ast.copy_location(ast.Name(name, ast.Store()), inner)
            read = ast.copy_location(ast.Name(name, ast.Load()), inner)
            later += stored(inner, read, at, context)
    first = quote("target = value", at, target=target, value=unpacked(value, count, at))
    return [*first, *later]


def unpacked(value: ast.expr, count: int, at: ast.AST) -> ast.expr:
    """The call that gives so many items."""
    return quote_expression("_jst.unpacked(value, count)", at, value=value, count=ast.Constant(count))


def targets(target: ast.expr) -> int | None:
    """Into how many targets a value is unpacked; None for one, and where one is starred."""
    if not isinstance(target, ast.Tuple | ast.List) or any(isinstance(e, ast.Starred) for e in target.elts):
        return None
    return len(target.elts)


def run(tree: ast.Module, context: Context) -> ast.Module:
    Unpacking(context).visit(tree)
    return tree
