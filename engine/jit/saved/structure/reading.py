"""A plain Program as operators that read numbered values, whatever damage it has."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.jit.saved.structure.repair import repaired
from engine.jit.saved.structure.values import Attributes

DEEPEST = 100
"""Regions within each other that are looked into."""

MOST_OPERATORS = 300_000
"""Operators after which a Program is cut off: files of other installations may have 200,000."""

Layout = tuple[tuple[str, int], ...]


class Numbers:
    """Numbers of what two Programs may have in common: equal things have the same number."""

    def __init__(self) -> None:
        self.attributes = Attributes()
        self.specs: dict[int, str] = {0: "missing"}
        self.numbers: dict[Any, int] = {}
        self._specs: dict[tuple[Any, ...], int] = {}

    def of(self, key: Hashable) -> int:
        """The number of a hashable."""
        return self.numbers.setdefault(key, len(self.numbers))

    def spec(self, variable: Mapping[str, Any]) -> int:
        """The number of shape and dtype of a Variable, never 0."""
        dtype, shape = variable["dtype"], variable["shape"]
        key = (dtype, *shape)
        found = self._specs.get(key)
        if found is None:
            found = self._specs[key] = len(self._specs) + 1
            sizes = ("?" if size == -1 else str(size) for size in shape)
            self.specs[found] = f"{dtype} [{', '.join(sizes)}]"
        return found


@dataclass(slots=True)
class Op:
    """An operator: its place, the values that it reads and makes, and the numbers of its own contents.

    ``layout`` has its slots with the number of their values. ``own`` is the number of type, attributes,
    slots and specs of parameters. ``regions`` are the indices of the blocks that it owns.
    """

    block: int
    index: int
    plain: Mapping[str, Any]
    type: str
    layer: str
    attributes: int
    layout: Layout
    reads: list[int]
    makes: list[int]
    own: int
    regions: tuple[int, ...]


@dataclass(slots=True)
class BlockRead:
    """The operators of a block by number; the values of its region's arguments and results."""

    place: str
    ops: list[int] = field(default_factory=list)
    arguments: list[int] = field(default_factory=list)
    results: list[int] = field(default_factory=list)


class ReadProgram:
    """All operators of a Program that are reached from its first block; passes may leave others behind.

    ``ops`` are in an order in which an operator comes after those within its regions. A value has a name
    (``names``), the number of the operator that makes it or -1 (``makers``), and the number of its spec if
    it is a parameter (``specs``). ``notes`` are the reasons why something is left out.
    """

    def __init__(self, plain: Mapping[str, Any], numbers: Numbers) -> None:
        self.numbers = numbers
        try:
            self._read(plain)
        except (AttributeError, KeyError, TypeError, ValueError):  # values of other types than a Program has
            self._read(repaired(plain))
            self.notes.append("values of unexpected types are ignored")

    def _read(self, plain: Mapping[str, Any]) -> None:
        self.ops: list[Op] = []
        self.names: list[str] = []
        self.makers: list[int] = []
        self.specs: list[int] = []
        self.blocks: dict[int, BlockRead] = {}
        self.notes: list[str] = []
        self.outputs: list[int] = []
        self._plain = plain["blocks"]
        self._variables: list[dict[str, Mapping[str, Any]]] = [
            {variable["name"]: variable for variable in block["vars"]} for block in self._plain
        ]
        self._layouts: dict[Any, tuple[Layout, int]] = {}
        self.inputs: dict[str, int] = {}
        for name in plain["inputs"]:
            self.inputs[name] = self._value(name)
        if self._plain:
            scope = dict(self.inputs)
            self._read_block(0, [scope], 0, "")
            self.outputs = [self._find(name, [scope], 0) for name in plain["outputs"]]

    def _value(self, name: str) -> int:
        """A value that no operator makes."""
        if type(name) is not str:
            raise TypeError("a name of another type")
        self.names.append(name)
        self.makers.append(-1)
        self.specs.append(0)
        return len(self.names) - 1

    def _find(self, name: str, scopes: list[dict[str, int]], block: int) -> int:
        """The value that ``name`` has now; parameters, and values that nothing declares, are met here."""
        if type(name) is not str:
            raise TypeError("a name of another type")
        for scope in reversed(scopes):
            found = scope.get(name)
            if found is not None:
                return found
        spec, within = 0, block
        while within >= 0:
            variable = self._variables[within].get(name)
            if variable is not None:
                spec = self.numbers.spec(variable)
                break
            within = _index(self._plain[within]["parent"], within)  # that of a damaged file may be any
        found = scopes[0][name] = len(self.names)
        self.names.append(name)
        self.makers.append(-1)
        self.specs.append(spec)
        return found

    def _read_block(self, number: int, scopes: list[dict[str, int]], depth: int, place: str) -> BlockRead:
        read = self.blocks[number] = BlockRead(place)
        current, find, names, makers = scopes[-1], self._find, self.names, self.makers
        specs, ops, layouts = self.specs, self.ops, self._layouts
        numbers, attributes = self.numbers.numbers, self.numbers.attributes.number
        for at, plain in enumerate(self._plain[number]["ops"]):
            if len(ops) >= MOST_OPERATORS:
                self.notes.append(f"operators from {place}{at} on are ignored: {MOST_OPERATORS} is the most")
                break
            inputs = plain["inputs"]
            reads: list[int] = []
            form: list[Any] = []
            for slot in sorted(inputs) if len(inputs) > 1 else inputs:
                given = inputs[slot]
                form += (slot, len(given))
                for name in given:
                    value = current.get(name)
                    reads.append(find(name, scopes, number) if value is None else value)
            key = tuple(form)
            known = layouts.get(key)
            if known is None:
                layout = tuple(zip(form[::2], form[1::2], strict=True))
                known = layouts[key] = (layout, self.numbers.of(("slots", layout)))
            kind, replay = plain["type"], plain.get("replay") is True
            regions: tuple[int, ...] = ()
            if plain.get("regions"):
                regions = self._read_regions(plain, number, scopes, depth, f"{place}{at}")
            given_attrs, layer = plain["attrs"], plain.get("layer", "")
            if type(kind) is not str or type(given_attrs) is not dict or type(layer) is not str:
                raise TypeError("an operator of other values")
            attrs = attributes(given_attrs)
            own_key = (kind, attrs, known[1], len(regions), replay, *[specs[value] for value in reads])
            own = numbers.setdefault(own_key, len(numbers))
            makes: list[int] = []
            for given in plain["outputs"].values():
                for name in given:
                    if type(name) is not str:
                        raise TypeError("a name of another type")
                    current[name] = value = len(names)
                    names.append(name)
                    makers.append(len(ops))
                    specs.append(0)
                    makes.append(value)
            read.ops.append(len(ops))
            ops.append(Op(number, at, plain, kind, layer, attrs, known[0], reads, makes, own, regions))
        return read

    def _read_regions(
        self, plain: Mapping[str, Any], block: int, scopes: list[dict[str, int]], depth: int, place: str
    ) -> tuple[int, ...]:
        """The blocks of an operator's regions."""
        owned: list[int] = []
        for at, region in enumerate(plain["regions"]):
            number = _index(region["block"], len(self._plain))
            if number <= block or number in self.blocks or depth >= DEEPEST:
                reason = "is nested too deep" if depth >= DEEPEST else "is missing or another operator's"
                self.notes.append(f"operator {place}: the block of region {at} {reason}; it is ignored")
                continue
            scope = {name: self._value(name) for _, name in region["arguments"]}
            inner = [*scopes, scope]
            arguments = list(scope.values())
            read = self._read_block(number, inner, depth + 1, f"{place}.{at}.")
            read.arguments = arguments
            read.results = [self._find(name, inner, number) for _, name in region["results"]]
            owned.append(number)
        return tuple(owned)

    def spec_text(self, value: int) -> str:
        """Shape and dtype of a parameter in words."""
        return self.numbers.specs[self.specs[value]]

    def place(self, number: int) -> str:
        """``4``, or ``4.0.2`` for operator 2 in region 0 of operator 4."""
        op = self.ops[number]
        return f"{self.blocks[op.block].place}{op.index}"

    def within(self, number: int) -> list[int]:
        """The operators in the regions of an operator."""
        found: list[int] = []
        waiting = list(self.ops[number].regions)
        while waiting:
            ops = self.blocks[waiting.pop()].ops
            found += ops
            waiting += [region for op in ops for region in self.ops[op].regions]
        return found


def _index(value: Any, below: int) -> int:
    """``value`` if it is an index below a bound, else -1."""
    return value if type(value) is int and 0 <= value < below else -1
