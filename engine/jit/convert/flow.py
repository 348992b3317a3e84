"""Flow of names through a function: which are live after a statement, which reads may find nothing bound."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.jit.convert.scope import Names, is_runtime_call, parameters

Live = frozenset[str]
EMPTY: Live = frozenset()


@dataclass(frozen=True)
class StateNames:
    """Names that a branch or loop binds: all of them, and those whose value is still needed afterwards."""

    bound: tuple[str, ...]
    live: tuple[str, ...]


class Liveness:
    """Backward flow over structured statements.

    `after[node]` holds the names that may still be read once `node` is done; `head[loop]` those that may be
    read when the next iteration begins. Names that nested functions capture, and names of an outer scope, are
    always live.
    """

    def __init__(self, function: ast.FunctionDef) -> None:
        names = Names(function.body)
        self.always: Live = frozenset(names.captured) | frozenset(names.globals) | frozenset(names.nonlocals)
        self.after: dict[ast.AST, Live] = {}
        self.head: dict[ast.AST, Live] = {}
        self._raising: Live = EMPTY
        self._loops: list[tuple[Live, Live]] = []
        self._block(function.body, EMPTY)

    def _block(self, statements: Sequence[ast.stmt], live: Live) -> Live:
        for statement in reversed(statements):
            live = self._statement(statement, live)
        return live

    def _statement(self, node: ast.stmt, live: Live) -> Live:
        self.after[node] = live | self._raising | self.always
        match node:
            case ast.If():
                return _reads(node.test) | self._block(node.body, live) | self._block(node.orelse, live)
            case ast.While():
                return self._loop(node, _reads(node.test), EMPTY, live)
            case ast.For():
                target = frozenset(Names([node.target]).bound)
                stop = _reads(node.iter) if is_runtime_call(node.iter, "until") else EMPTY
                head = self._loop(node, stop | _reads(node.target), target, live)
                return head | _reads(node.iter)
            case ast.Return():
                return _reads(node)
            case ast.Raise():
                return _reads(node) | self._raising
            case ast.Break() | ast.Continue():
                if not self._loops:
                    return live
                return self._loops[-1][isinstance(node, ast.Break)]
            case ast.With():
                inner = self._block(node.body, live) | self._raising
                for item in reversed(node.items):
                    if item.optional_vars is not None:
                        inner = (inner - frozenset(Names([item.optional_vars]).bound)) | _reads(
                            item.optional_vars
                        )
                    inner |= _reads(item.context_expr)
                return inner
            case ast.Try() | ast.TryStar():
                return self._try(node, live)
            case ast.Match():
                inner = live
                for case in node.cases:
                    inner |= self._block(case.body, live) | _reads(case.pattern)
                    inner |= _reads(case.guard) if case.guard is not None else EMPTY
                return inner | _reads(node.subject)
            case ast.Delete() | ast.AugAssign():
                return live | _reads(node) | self._raising
            case ast.Assign() | ast.AnnAssign() | ast.Import() | ast.ImportFrom():
                bound = frozenset(Names([node]).bound)
                return (live - bound) | self._raising | _reads(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return (live - {node.name}) | self._raising | _reads(node)
        return live | _reads(node)

    def _loop(self, node: ast.While | ast.For, reads: Live, target: Live, live: Live) -> Live:
        after = self._block(node.orelse, live)
        head = reads | after
        while True:
            self._loops.append((head, live))
            grown = head | (self._block(node.body, head) - target)
            self._loops.pop()
            if grown == head:
                self.head[node] = head | self._raising | self.always
                return head
            head = grown

    def _try(self, node: ast.Try | ast.TryStar, live: Live) -> Live:
        finishing = self._block(node.finalbody, live)
        handling = finishing
        for handler in node.handlers:
            inside = self._block(handler.body, finishing) - {handler.name or ""}
            handling |= inside | (_reads(handler.type) if handler.type is not None else EMPTY)
        otherwise = self._block(node.orelse, finishing)
        outer, self._raising = self._raising, self._raising | handling
        body = self._block(node.body, otherwise)
        self._raising = outer
        return body | handling


def _reads(node: ast.AST) -> Live:
    return frozenset(Names([node]).read)


def state_names(function: ast.FunctionDef) -> dict[ast.AST, StateNames]:
    """For every `if`, `while` and `for` of the function: what it binds, and what of that is needed
    afterwards.
    """
    liveness = Liveness(function)
    written_inside = Names(function.body).written_inside
    result: dict[ast.AST, StateNames] = {}
    for node, after in liveness.after.items():
        match node:
            case ast.If():
                names, needed = Names([*node.body, *node.orelse]), after
            case ast.While():
                names, needed = Names([node.test, *node.body]), liveness.head[node]
            case ast.For():
                names, needed = Names([node.target, *node.body]), liveness.head[node]
            case _:
                continue
        bound = dict(names.bound)
        if names.calls:
            bound.update(written_inside)
        result[node] = StateNames(tuple(bound), tuple(name for name in bound if name in needed))
    return result


class UnboundReads:
    """Forward flow: `nodes` are the reads of local names that some path reaches without binding them.

    None stands for the state after a statement that never completes (return, raise, break, continue).
    """

    def __init__(self, function: ast.FunctionDef) -> None:
        names = Names(function.body)
        self.local = set(names.bound) - set(names.globals) - set(names.nonlocals)
        self.nodes: set[ast.Name] = set()
        self.updates: set[ast.AugAssign] = set()
        self._block(function.body, frozenset(parameters(function.args)))

    def _block(self, statements: Sequence[ast.stmt], bound: Live | None) -> Live | None:
        for statement in statements:
            if bound is None:
                return None
            bound = self._statement(statement, bound)
        return bound

    def _statement(self, node: ast.stmt, bound: Live) -> Live | None:
        match node:
            case ast.If():
                self._read(node.test, bound)
                bound |= _bound(node.test)
                return _join([self._block(node.body, bound), self._block(node.orelse, bound)])
            case ast.While():
                self._read(node.test, bound)
                self._block(node.body, bound | _bound(node.test))
                return _join([bound | _bound(node.test), self._block(node.orelse, bound)])
            case ast.For():
                self._read(node.iter, bound)
                self._block(node.body, bound | _bound(node.target))
                return _join([bound, self._block(node.orelse, bound)])
            case ast.Return() | ast.Raise():
                self._read(node, bound)
                return None
            case ast.Break() | ast.Continue():
                return None
            case ast.With():
                for item in node.items:
                    self._read(item.context_expr, bound)
                    bound |= _bound(item)
                return self._block(node.body, bound)
            case ast.Try() | ast.TryStar():
                ends = [self._block([*node.body, *node.orelse], bound)]
                for handler in node.handlers:
                    inside = bound | ({handler.name} if handler.name else EMPTY)
                    end = self._block(handler.body, inside)
                    ends.append(end - {handler.name or ""} if end is not None else None)
                self._block(node.finalbody, bound)
                end = _join(ends)
                return end | _bound(*node.finalbody) if end is not None and _straight(node.finalbody) else end
            case ast.Match():
                self._read(node.subject, bound)
                ends = [bound]
                for case in node.cases:
                    inside = bound | _bound(case.pattern)
                    if case.guard is not None:
                        self._read(case.guard, inside)
                    ends.append(self._block(case.body, inside))
                return _join(ends)
            case ast.Delete():
                return bound - {target.id for target in node.targets if isinstance(target, ast.Name)}
            case ast.AugAssign():
                if isinstance(node.target, ast.Name) and self._may_be_unbound(node.target, bound):
                    self.updates.add(node)
                self._read(node, bound)
                return bound
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return bound | {node.name}
        self._read(node, bound)
        return bound | _bound(node)

    def _may_be_unbound(self, name: ast.Name, bound: Live) -> bool:
        return name.id in self.local and name.id not in bound

    def _read(self, node: ast.AST, bound: Live) -> None:
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load) and self._may_be_unbound(node, bound):
                self.nodes.add(node)
            return
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            # Its own variables hide the function's; only what it iterates over first is read outside of it.
            self._read(node.generators[0].iter, bound)
            return
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            return
        bound_here = (
            bound | _bound(node) if any(isinstance(part, ast.NamedExpr) for part in ast.walk(node)) else bound
        )
        for child in ast.iter_child_nodes(node):
            self._read(child, bound_here)


def _bound(*nodes: ast.AST) -> Live:
    return frozenset(Names(nodes).bound)


def _straight(statements: Iterable[ast.stmt]) -> bool:
    return all(isinstance(statement, ast.Assign | ast.Expr | ast.AugAssign) for statement in statements)


def _join(ends: Iterable[Live | None]) -> Live | None:
    """Names bound on every path that gets here."""
    reached = [end for end in ends if end is not None]
    return frozenset.intersection(*reached) if reached else None
