"""Reads of a name that some path leaves unbound -> `_jst.read(lambda: y)`, which says what Python would say.

Before: `if a: y = 1` and then `return y`
After: `if a: y = 1` and then `return _jst.read(lambda: y)`
"""

from __future__ import annotations

import ast

from engine.jit.convert.flow import UnboundReads
from engine.jit.convert.quote import quote, quote_expression
from engine.jit.convert.transform import Context, FunctionPass


class Reads(FunctionPass):
    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.unbound: set[ast.Name] = set()
        self.updates: set[ast.AugAssign] = set()

    def function(self, node: ast.FunctionDef) -> ast.AST:
        found = UnboundReads(node)
        self.unbound |= {name for name in found.nodes if name.id not in self.context.generated}
        self.updates |= found.updates
        node.body = self.block(node.body)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return (
            quote_expression("_jst.read(lambda: name)", node, name=node.id) if node in self.unbound else node
        )

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        if node not in self.updates or not isinstance(node.target, ast.Name):
            return node
        return [*quote("_jst.read(lambda: name)", node, name=node.target.id), node]


def run(tree: ast.Module, context: Context) -> ast.Module:
    Reads(context).visit(tree)
    return tree
