"""ProgramIndex: the operators of a plain Program in their order, and what flows between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from studio.session.graph.diagram.scene import BACKWARD, FORWARD, UPDATE
from studio.session.graph.diagram.texts import cleaned

MOST_OPERATORS = 200_000
"""Operators that a diagram has; those after them are not shown."""

_DEEPEST = 100  # blocks within blocks
_MOST_SIZE = 1 << 63
GRADIENT = "@GRAD"
_UPDATE_ROLES = 2 | 16  # of op_role in Paddle: an optimizer's operator, a schedule's


class Value(NamedTuple):
    """One value of a Variable: what it is called, its shape if that is known, and its dtype."""

    name: str
    shape: list[int] | None
    dtype: str


class _Scope:
    """The Variables and values that are visible in a block."""

    __slots__ = ("declared", "outer", "values")

    def __init__(self, declared: dict[str, Any], outer: _Scope | None) -> None:
        self.declared = declared
        self.outer = outer
        self.values: dict[str, int] = {}

    def value(self, name: str) -> int | None:
        scope: _Scope | None = self
        while scope is not None:
            found = scope.values.get(name)
            if found is not None:
                return found
            scope = scope.outer
        return None

    def variable(self, name: str) -> dict[str, Any] | None:
        scope: _Scope | None = self
        while scope is not None:
            found: dict[str, Any] | None = scope.declared.get(name)
            if found is not None:
                return found
            scope = scope.outer
        return None

    def owner(self, name: str) -> _Scope:
        """The scope that declares a Variable, this one if none does."""
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.declared:
                return scope
            scope = scope.outer
        return self


class ProgramIndex:
    """Operators by number, in the order in which they run: those of a sub-block follow the operator that has
    it.

    Attributes:
        operators: the plain operators; ``types`` are as Paddle's text shows them (``conv2d_grad``).
        numbers: of the operators of each block.
        ends: the number after the last operator within each, itself included.
        regions: for operators with sub-blocks, (first, end) of each sub-block.
        phases: of each operator.
        names, makers: of everything that is made or given; one operator, or those of several sub-blocks.
        inputs, outputs: the numbers of the Program's own inputs and outputs as nodes follow those of the
            operators.
        sources, targets, flowing: for each use, who made the value, who takes it, and which it is.
        batch_is_open, others_are_open: some input has an open first size; an open size after it.
        shortened: why less than the whole Program is here, empty if it is not.
    """

    def __init__(self, program: Mapping[str, Any]) -> None:
        self.operators: list[Mapping[str, Any]] = []
        self.types: list[str] = []
        self.numbers: dict[int, list[int]] = {}
        self._in_block: list[int] = []
        self._position: list[int] = []
        self.ends: list[int] = []
        self.regions: dict[int, list[tuple[int, int]]] = {}
        self.phases: list[int] = []
        self.names: list[str] = []
        self.makers: list[int | tuple[int, ...]] = []
        self._declared: list[Mapping[str, Any] | None] = []
        self.parameters: dict[int, list[int]] = {}
        self.inputs: list[int] = []
        self.outputs: list[int] = []
        self.batch_is_open = self.others_are_open = False
        self.shortened = ""
        self._sources: list[int] = []
        self._targets: list[int] = []
        self._flowing: list[int] = []
        self._undeclared: list[str] = []
        self._early: list[tuple[int, str, _Scope]] = []
        self._nested = self._cut = False
        self._depth = 0
        self._read(program)
        self.sources, self.targets, self.flowing = (
            np.array(found, np.int32) for found in (self._sources, self._targets, self._flowing)
        )
        del self._sources, self._targets, self._flowing

    @property
    def nodes(self) -> int:
        """Operators, inputs and outputs together."""
        return len(self.operators) + len(self.inputs) + len(self.outputs)

    def _read(self, program: Mapping[str, Any]) -> None:
        blocks = program["blocks"]
        self._blocks = {block["idx"]: block for block in blocks}
        total = sum(len(block["ops"]) for block in blocks)
        first = blocks[0]
        scope = _Scope({v["name"]: v for v in first["vars"]}, None)
        given = list(program.get("inputs", ()))
        known = set(given)
        given += [v["name"] for v in first["vars"] if v.get("data") and v["name"] not in known]
        # Inputs are nodes after the operators; how many those are is known in the end.
        for n, name in enumerate(given):
            value = self._add(name, -1 - n, scope)
            self.inputs.append(value)
            shape = self.value(value).shape
            self.batch_is_open |= bool(shape and shape[0] < 0)
            self.others_are_open |= bool(shape and min(shape[1:], default=0) < 0)
        self._seen = {first["idx"]}
        self._read_block(first, scope, FORWARD)
        count = len(self.operators)
        self._sources = [source if source >= 0 else count - 1 - source for source in self._sources]
        for n, value_number in enumerate(self.inputs):
            self.makers[value_number] = count + n
        for name in program.get("outputs", ()):
            found = scope.value(name)
            if found is not None:
                node = count + len(self.inputs) + len(self.outputs)
                self.outputs.append(found)
                self._flow(found, node)
        self._explain(total)

    def _explain(self, total: int) -> None:
        reasons = []
        if self._cut:
            reasons.append(f"the first {MOST_OPERATORS:,} of {total:,} operators are shown")
        elif len(self.operators) < total:
            reasons.append(
                f"{total - len(self.operators):,} operators are in blocks that no operator shown runs"
                + (", or in themselves" if self._nested else "")
            )
        elif self._nested:
            reasons.append("a block is part of two operators, or of itself: it is shown once")
        if self._undeclared:
            names = ", ".join(repr(cleaned(name, 30)) for name in self._undeclared[:3])
            count = len(self._undeclared)
            reasons.append(f"the Program has no Variable for {count} names that it reads: {names}")
        early = [name for _, name, scope in self._early if name in scope.values]
        if early:
            names = ", ".join(repr(cleaned(name, 30)) for name in early[:3])
            reasons.append(
                f"{len(early)} values are read before they are made, which closes a circle: {names}; "
                "these edges are not shown"
            )
        self.shortened = "; ".join(reasons)

    def place(self, number: int) -> tuple[int, int]:
        """The block of an operator, and its index in there."""
        return self._in_block[number], self._position[number]

    def value(self, number: int) -> Value:
        """What is known of a value."""
        declared = self._declared[number] or {}
        shape = declared.get("shape")
        sound = isinstance(shape, list) and all(isinstance(n, int) and abs(n) < _MOST_SIZE for n in shape)
        dtype = declared.get("dtype")
        return Value(self.names[number], shape if sound else None, dtype if isinstance(dtype, str) else "")

    def makers_of(self, value: int) -> tuple[int, ...]:
        """The operators or inputs that a value comes from; none for a parameter."""
        makers = self.makers[value]
        return makers if isinstance(makers, tuple) else (makers,)

    def _add(self, name: str, makers: int | tuple[int, ...], scope: _Scope) -> int:
        if type(name) is not str:
            raise TypeError(f"{name!r:.60} is not the name of a Variable")
        number = len(self.names)
        self.names.append(name)
        self.makers.append(makers)
        if name in scope.declared or scope.outer is None:
            self._declared.append(scope.declared.get(name))
            scope.values[name] = number
        else:
            self._declared.append(scope.variable(name))
            scope.owner(name).values[name] = number
        return number

    def _flow(self, value: int, target: int) -> None:
        for maker in self.makers_of(value):
            self._sources.append(maker)
            self._targets.append(target)
            self._flowing.append(value)

    def _read_block(self, block: Mapping[str, Any], scope: _Scope, phase: int) -> None:
        index = block["idx"]
        numbers = self.numbers.setdefault(index, [])
        for position, operator in enumerate(block["ops"]):
            number = len(self.operators)
            if number >= MOST_OPERATORS:
                self._cut = True
                return
            notes = operator.get("notes") or {}
            kind = operator["type"]
            own = phase or _phase(operator, notes)
            self.operators.append(operator)
            self.types.append(str(notes.get("type") or kind))
            numbers.append(number)
            self._in_block.append(index)
            self._position.append(position)
            self.phases.append(own)
            self.ends.append(number + 1)
            taken = [name for names in operator["inputs"].values() for name in names]
            state = operator.get("taken")
            if state is not None:
                taken.append(state[1])
            made = [name for names in operator["outputs"].values() for name in names]
            regions = operator.get("regions") or ()
            if regions:
                self._read_regions(number, operator, regions, taken, made, scope, own)
            else:
                for name in taken:
                    self._take(number, name, scope)
                for name in made:
                    self._add(name, number, scope)
            state = operator.get("kept")
            if state is not None:
                self._add(state[1], number, scope)

    def _take(self, number: int, name: str, scope: _Scope) -> None:
        value = scope.values.get(name)
        if value is None and scope.outer is not None:
            value = scope.value(name)
        if value is not None:
            makers = self.makers[value]
            if isinstance(makers, int):
                self._sources.append(makers)
                self._targets.append(number)
                self._flowing.append(value)
            elif makers:
                self._flow(value, number)
            else:
                self.parameters.setdefault(number, []).append(value)
            return
        declared = scope.variable(name)
        if declared is None:
            if len(self._undeclared) < 1000 and name not in self._undeclared[-20:]:
                self._undeclared.append(name)
        elif declared.get("parameter") or declared.get("persistable"):
            self.parameters.setdefault(number, []).append(self._add(name, (), scope))
        elif scope.outer is None and len(self._early) < 1000:
            self._early.append((number, name, scope))

    def _read_regions(
        self,
        number: int,
        operator: Mapping[str, Any],
        regions: Iterable[Mapping[str, Any]],
        taken: list[str],
        made: list[str],
        scope: _Scope,
        phase: int,
    ) -> None:
        """Sub-blocks: their arguments are the operator's inputs, their results its outputs."""
        before = len(self._flowing)
        lists = list(operator["inputs"].values())
        results: list[set[int]] = [set() for _ in made]
        for region in regions:
            block = self._blocks.get(region["block"])
            if block is None or block["idx"] in self._seen or self._depth == _DEEPEST:
                self._nested = True
                continue
            self._seen.add(block["idx"])
            inner = _Scope({}, scope)
            parent = self._blocks.get(block.get("parent", -1))
            if parent is not None and parent["idx"] not in self._seen:  # holds the arguments of both regions
                inner = _Scope({v["name"]: v for v in parent["vars"]}, scope)
            inner = _Scope({v["name"]: v for v in block["vars"]}, inner)
            arguments = [name for _, name in region.get("arguments", ())]
            given: list[str] = next((names for names in lists if len(names) == len(arguments)), [])
            for name, outside in zip(arguments, given, strict=False):
                found = scope.value(outside)
                if found is not None:
                    inner.values[name] = found
            first = len(self.operators)
            self._depth += 1
            self._read_block(block, inner, phase)
            self._depth -= 1
            self.regions.setdefault(number, []).append((first, len(self.operators)))
            names = [name for _, name in region.get("results", ())]
            if len(names) == len(made):
                for makers, name in zip(results, names, strict=True):
                    result = inner.value(name)
                    if result is not None:
                        makers.update(m for m in self.makers_of(result) if m > number)
        self.ends[number] = len(self.operators)
        read = set(self._flowing[before:])
        for name in taken:
            if scope.value(name) not in read:
                self._take(number, name, scope)
        for name, makers in zip(made, results, strict=True):
            self._add(name, tuple(sorted(makers)) or number, scope)


def _phase(operator: Mapping[str, Any], notes: Mapping[str, Any]) -> int:
    said = notes.get("attrs")
    role = said.get("op_role", 0) if isinstance(said, dict) else 0
    role = role or operator["attrs"].get("op_role", 0)
    if isinstance(role, int):
        if role & _UPDATE_ROLES:
            return UPDATE
        if role & 1:
            return BACKWARD
    outputs = operator["outputs"]
    if "ParamOut" in outputs:
        return UPDATE
    if operator["type"] == "gradient":
        return BACKWARD
    for names in outputs.values():
        for name in names:
            if GRADIENT in name:
                return BACKWARD
    return FORWARD
