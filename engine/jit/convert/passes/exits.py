"""Structured exits, shared by `return`, `break` and `continue`: what follows a jump moves into the path
without it.

Before: `if a: JUMP` and then `rest`
After: `if a: STORE` `else: rest`, so that every path ends at the block's end and a condition may be a Tensor.

Where the rest can't move (out of a loop, `with`, `try` or `match`, or because copying it into both branches
would blow the function up) a flag is set at the jump and the rest stands under `if not flag:`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from engine.jit.convert.quote import copied
from engine.jit.convert.scope import own_nodes
from engine.jit.convert.transform import negated, or_pass

GROWTH_LIMIT = 1000  # nodes of the tree that copies of a rest may add to one function


class Exits:
    """Rewrites jumps of one kind in a block; `flag_tested` says whether the flag came to be used."""

    def __init__(
        self,
        contains: Callable[[ast.AST], bool],
        replace: Callable[[ast.stmt], list[ast.stmt] | None],
        in_loop: Callable[[ast.For | ast.While], ast.stmt],
        flag: str,
    ) -> None:
        self.contains = contains  # does the statement hold a jump of this kind?
        self.replace = replace  # the jump's replacement, None for another statement
        self.in_loop = in_loop  # the loop with the jumps in its body rewritten
        self.flag = flag
        self.flag_tested = False
        self.growth_left = GROWTH_LIMIT

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The block without jumps; what follows one is run only where none was taken."""
        result: list[ast.stmt] = []
        for index, statement in enumerate(statements):
            if not self.contains(statement):
                result.append(statement)
                continue
            replacement = self.replace(statement)
            if replacement is not None:
                return result + replacement
            rest = list(statements[index + 1 :])
            if isinstance(statement, ast.If) and self._absorb(statement, rest):
                statement.body = or_pass(self.block(statement.body), statement)
                statement.orelse = self.block(statement.orelse)
                return [*result, statement]
            result.append(self._inside(statement))
            if rest:
                result.append(self._guarded(self.block(rest), rest[0]))
            return result
        return result

    def _absorb(self, statement: ast.If, rest: list[ast.stmt]) -> bool:
        """Move the rest into the branches that get to it; False where that would copy too much."""
        if not rest:
            return True
        body_leaves, else_leaves = leaves(statement.body), leaves(statement.orelse)
        if not body_leaves and not else_leaves:
            size = sum(1 for node in rest for _ in ast.walk(node))
            if size > self.growth_left:
                return False
            self.growth_left -= size
            statement.body = statement.body + [copied(item) for item in rest]
            statement.orelse = statement.orelse + rest
        elif not body_leaves:
            statement.body = statement.body + rest
        elif not else_leaves:
            statement.orelse = statement.orelse + rest
        return True

    def _inside(self, statement: ast.stmt) -> ast.stmt:
        match statement:
            case ast.While() | ast.For():
                statement = self.in_loop(statement)
                statement.orelse = self.block(statement.orelse)  # type: ignore[attr-defined]
            case ast.If():
                statement.body = self.block(statement.body)
                statement.orelse = self.block(statement.orelse)
            case ast.With():
                statement.body = self.block(statement.body)
            case ast.Match():
                for case in statement.cases:
                    case.body = self.block(case.body)
            case ast.Try() | ast.TryStar():
                jumps = any(self.contains(inner) for inner in statement.body)
                statement.body = self.block(statement.body)
                for handler in statement.handlers:
                    handler.body = self.block(handler.body)
                statement.orelse = self.block(statement.orelse)
                if jumps and statement.orelse:
                    statement.orelse = [self._guarded(statement.orelse, statement.orelse[0])]
        return statement

    def _guarded(self, statements: list[ast.stmt], at: ast.AST) -> ast.stmt:
        self.flag_tested = True
        return ast.copy_location(ast.If(negated(self.flag, at), statements, []), at)


def leaves(statements: Sequence[ast.stmt]) -> bool:
    """Whether control never runs past the end of the block."""
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, ast.If):
        return leaves(last.body) and leaves(last.orelse)
    return isinstance(last, ast.Return | ast.Raise | ast.Break | ast.Continue)


def own_jumps(loop: ast.For | ast.While, kind: type[ast.stmt]) -> bool:
    """Whether the loop's body holds a `break` or `continue` (`kind`) that belongs to this loop."""
    return any(holds_jump(statement, kind) for statement in loop.body)


def holds_jump(node: ast.AST, kind: type[ast.stmt]) -> bool:
    """Whether a `break` or `continue` in the node belongs to a loop around it."""
    if isinstance(node, kind):
        return True
    if isinstance(node, ast.For | ast.While):
        return any(holds_jump(statement, kind) for statement in node.orelse)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda | ast.expr):
        return False
    return any(holds_jump(child, kind) for child in ast.iter_child_nodes(node))


def holds_return(node: ast.AST) -> bool:
    """Whether the node holds a `return` of the function that it belongs to."""
    return any(isinstance(part, ast.Return) for part in own_nodes([node]))


def without_stores(statements: list[ast.stmt], flag: str) -> list[ast.stmt]:
    """The statements without `flag = True`, for a flag that nothing tests."""

    class Strip(ast.NodeTransformer):
        def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
            target = node.targets[0]
            return None if isinstance(target, ast.Name) and target.id == flag else node

        def generic_visit(self, node: ast.AST) -> ast.AST:
            super().generic_visit(node)
            body = getattr(node, "body", None)
            if isinstance(body, list) and not body:
                node.body = or_pass([], node)  # type: ignore[attr-defined]
            return node

    return [new for statement in statements if (new := Strip().visit(statement)) is not None]
