"""`super()` -> `super(__class__, self)`: it keeps its meaning inside the helper functions that later passes
make.

Before: `def forward(self, x): return super().forward(x)`
After: `def forward(self, x): return super(__class__, self).forward(x)`
"""

from __future__ import annotations

import ast

from engine.jit.convert.quote import quote_expression
from engine.jit.convert.scope import Names
from engine.jit.convert.transform import Context, FunctionPass


class Supers(FunctionPass):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        first = _first_parameter(self.owner)
        if not isinstance(node.func, ast.Name) or node.func.id != "super" or node.args or first is None:
            return node
        assert self.owner is not None
        if "super" in Names(self.owner.body).bound:  # the function's own, not Python's
            return node
        return quote_expression("super(__class__, first)", node, first=first)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return node  # `super()` fails in a comprehension's own frame, and still fails

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        return node

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        return node

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        return node


def _first_parameter(function: ast.FunctionDef | None) -> str | None:
    positional = [*function.args.posonlyargs, *function.args.args] if function is not None else []
    return positional[0].arg if positional else None


def run(tree: ast.Module, context: Context) -> ast.Module:
    Supers(context).visit(tree)
    return tree
