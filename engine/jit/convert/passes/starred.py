"""A list display with a starred part -> the runtime's, since a tensor array may be spread out in it.

Before: `[a, *items, b]`
After: `_jst.listed((a,), items, (b,))`
"""

from __future__ import annotations

import ast

from engine.jit.convert.quote import quote_expression
from engine.jit.convert.transform import Context, FunctionPass


class StarredLists(FunctionPass):
    def visit_List(self, node: ast.List) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or not any(isinstance(e, ast.Starred) for e in node.elts):
            return node
        parts: list[ast.expr] = []
        plain: ast.Tuple | None = None  # the elements since the last starred one
        for element in node.elts:
            if isinstance(element, ast.Starred):
                parts.append(element.value)
                plain = None
                continue
            if plain is None:
                plain = ast.copy_location(ast.Tuple([], ast.Load()), element)
                parts.append(plain)
            plain.elts.append(element)
        call = quote_expression("_jst.listed()", node)
        assert isinstance(call, ast.Call)
        call.args = parts
        return call


def run(tree: ast.Module, context: Context) -> ast.Module:
    StarredLists(context).visit(tree)
    return tree
