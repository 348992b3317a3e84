"""What the passes for `if`, `while` and `for` share: the helper functions' declarations and the state that is
handed on.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from engine.jit.convert.flow import StateNames
from engine.jit.convert.quote import quote_expression
from engine.jit.convert.scope import Names
from engine.jit.convert.transform import FunctionPass


class ControlPass(FunctionPass):
    def state(self, node: ast.stmt) -> StateNames:
        assert self.owner is not None, "a statement stands in a function"
        return self.context.state(node, self.owner)

    def declared(self, statements: Sequence[ast.AST]) -> tuple[list[str], list[str]]:
        """The names that a helper function of these statements declares `nonlocal` and `global`: the user's
        own names.
        """
        assert self.owner is not None, "a statement stands in a function"
        bound = [name for name in Names(statements).bound if name not in self.context.helpers]
        shared = [statement for statement in self.owner.body if isinstance(statement, ast.Global)]
        global_names = {name for statement in shared for name in statement.names}
        return [name for name in bound if name not in global_names], [
            name for name in bound if name in global_names
        ]

    def state_keywords(self, names: StateNames, at: ast.AST) -> list[ast.keyword]:
        """`state=lambda: (a, b), live=lambda: (a,)`; `live` is omitted where it would be the same."""
        keywords = []
        if names.bound:
            keywords.append(_keyword("state", names.bound, at))
        if names.live != names.bound:
            keywords.append(_keyword("live", names.live, at))
        return keywords


def _keyword(name: str, values: tuple[str, ...], at: ast.AST) -> ast.keyword:
    loads: list[ast.expr] = [ast.copy_location(ast.Name(value, ast.Load()), at) for value in values]
    return ast.copy_location(ast.keyword(name, quote_expression("lambda: (values,)", at, values=loads)), at)


def with_keywords(call: ast.stmt, keywords: list[ast.keyword]) -> ast.stmt:
    """The statement, a call, with keywords added."""
    assert isinstance(call, ast.Expr)
    assert isinstance(call.value, ast.Call)
    call.value.keywords += keywords
    return call
