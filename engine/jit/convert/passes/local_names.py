"""Names bound only inside helper functions -> declared at the user's function's start, so that `nonlocal`
finds them.

Before: `def f(): def true_fn_0(): nonlocal y; y = 1`
After: `def f(): y: _jst.Undefined; def true_fn_0(): nonlocal y; y = 1`

A bare annotation binds nothing and is not evaluated: it makes the name a local one that is still unbound.
"""

from __future__ import annotations

import ast

from engine.jit.convert.quote import quote
from engine.jit.convert.scope import Names, own_nodes, parameters
from engine.jit.convert.transform import Context, FunctionPass


class LocalNames(FunctionPass):
    def function(self, node: ast.FunctionDef) -> ast.AST:
        node.body = self.block(node.body)
        own = Names(node.body)
        known = {*own.bound, *own.nonlocals, *own.globals, *parameters(node.args)}
        missing = [name for name in self._bound_by_helpers(node.body) if name not in known]
        declarations = [
            new for name in missing for new in quote("name: _jst.Undefined", node.body[0], name=name)
        ]
        start = 1 if ast.get_docstring(node, clean=False) is not None else 0
        node.body[start:start] = declarations
        return node

    def _bound_by_helpers(self, body: list[ast.stmt]) -> dict[str, None]:
        names: dict[str, None] = {}
        for part in own_nodes(body):
            if isinstance(part, ast.FunctionDef) and part.name in self.context.helpers:
                for inner in part.body:
                    if isinstance(inner, ast.Nonlocal):
                        names.update(dict.fromkeys(inner.names))
                names.update(self._bound_by_helpers(part.body))
        return dict(sorted(names.items()))


def run(tree: ast.Module, context: Context) -> ast.Module:
    LocalNames(context).visit(tree)
    return tree
