"""Numbers about the operators of a Program and groups of them: for the colours of tree and diagram.

A number belongs to a *source*: an operator, a kernel that computes several, a parameter, a layer. A group has
the sum (or the largest) of the sources that are within it. A kernel that computes several operators counts
where all of them are, and for none of them alone.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

from resources.operator_keys import PHASES, UPDATE, OperatorKey, layer_name, numbered, phase_of
from studio.session.graph.measured_step import MeasuredStep, OperatorCost
from studio.session.train.layers_view import LayerSnapshot

Place: TypeAlias = tuple[int, int]  # block and operator
Together = Literal["sum", "norm", "largest", "same"]

TIME, FORWARD_TIME, BACKWARD_TIME, UPDATE_TIME = "time", "forward", "backward", "update"
RATE, PEAK, BYTES, CALLS = "rate", "peak", "bytes", "calls"
MEMORY, PARAMETERS, DTYPE = "memory", "parameters", "dtype"
GRADIENT, RATIO, DEAD = "gradient", "ratio", "dead"
QUANTIZATION, DIFFERENCE = "quantization", "difference"
MEASURED = (TIME, FORWARD_TIME, BACKWARD_TIME, UPDATE_TIME, BYTES, RATE, PEAK, CALLS)
LOOKED = (GRADIENT, RATIO, DEAD)
SUBJECTS = (*MEASURED, MEMORY, PARAMETERS, DTYPE, *LOOKED, QUANTIZATION, DIFFERENCE)

_BITS = {"bool": 8, "bfloat16": 16, "complex64": 64, "complex128": 128}


@dataclass(frozen=True)
class Source:
    """What has a number: in ``places``, all of which a group must have unless ``any_place`` is enough."""

    value: float
    places: frozenset[Place]
    any_place: bool = False
    weight: float = 0.0  # the seconds that a rate is over


@dataclass(frozen=True)
class Figures:
    """Numbers of one subject: ``unit`` and ``scale`` as the diagram takes them.

    ``labels`` are the words of a value that is a position in them. ``together`` says how the numbers of a
    group become one.
    """

    subject: str
    sources: tuple[Source, ...] = ()
    together: Together = "sum"
    unit: str = ""
    scale: Literal["linear", "log"] = "linear"
    labels: tuple[str, ...] = ()
    _by_place: dict[Place, list[int]] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        for number, source in enumerate(self.sources):
            for place in source.places:
                self._by_place.setdefault(place, []).append(number)

    def of(self, places: Iterable[Place]) -> float | None:
        """The number of a group of operators, or of one; None where nothing is known."""
        counts: dict[int, int] = defaultdict(int)
        for place in places:
            for number in self._by_place.get(place, ()):
                counts[number] += 1
        found = [
            self.sources[number]
            for number, count in counts.items()
            if self.sources[number].any_place or count == len(self.sources[number].places)
        ]
        return _joined(found, self.together) if found else None

    def shared_at(self, place: Place) -> tuple[float, int] | None:
        """The number of a kernel that computes this operator together with others, and how many they are."""
        for number in self._by_place.get(place, ()):
            source = self.sources[number]
            if len(source.places) > 1 and not source.any_place:
                return source.value, len(source.places)
        return None

    def by_operator(self) -> dict[Place, float]:
        """The numbers of single operators."""
        return {place: value for place in self._by_place if (value := self.of((place,))) is not None}

    @property
    def rest(self) -> float:
        """The sum of what belongs to no operator of the Program."""
        return sum(source.value for source in self.sources if not source.places)


def _joined(sources: Sequence[Source], together: Together) -> float | None:
    values = [source.value for source in sources]
    if together == "largest":
        return max(values)
    if together == "norm":
        return math.sqrt(sum(value * value for value in values))
    if together == "same":
        return values[0] if len(set(values)) == 1 else None
    weights = sum(source.weight for source in sources)
    if weights:  # a rate: what was done, over the time that it took
        return sum(source.value * source.weight for source in sources) / weights
    return sum(values)


class FigureMaker:
    """Makes the figures of a Program.

    Args:
        program: as ``serialize.to_plain`` gives it.
        batch: samples in place of sizes that are open; 0 where that is not known.
        planned: it is a whole step of a training, after the passes.
        is_view: whether operators of a type only show an array in another shape.
    """

    def __init__(
        self,
        program: Mapping[str, Any],
        batch: int = 0,
        planned: bool = False,
        is_view: Callable[[str], bool] = lambda kind: False,
    ) -> None:
        self._program, self._batch, self._planned, self._is_view = program, batch, planned, is_view
        self._places: dict[OperatorKey, Place] | None = None
        self._variables: dict[int, dict[str, dict[str, Any]]] = {
            block["idx"]: {variable["name"]: variable for variable in block["vars"]}
            for block in program.get("blocks", ())
        }
        self._parents = {block["idx"]: block["parent"] for block in program.get("blocks", ())}

    def variable(self, block: int, name: str) -> dict[str, Any] | None:
        """A Variable by its name, in a block or one around it."""
        while block in self._variables:
            found = self._variables[block].get(name)
            if found is not None:
                return found
            block = self._parents[block]
        return None

    @property
    def places(self) -> dict[OperatorKey, Place]:
        """The operators by their keys."""
        if self._places is None:
            self._places = {key: (block, index) for block, index, key, _ in numbered(self._program)}
        return self._places

    @cached_property
    def keys(self) -> dict[Place, OperatorKey]:
        """The keys of the operators."""
        return {place: key for key, place in self.places.items()}

    # ----- a measured step -----

    def measured(self, subject: str, step: MeasuredStep) -> Figures:
        """One of ``MEASURED``."""
        unit = {BYTES: "B", RATE: "GFLOP/s", PEAK: "share", CALLS: ""}.get(subject, "s")
        made = []
        updates = frozenset(
            (block, index) for block, index, key, _ in numbered(self._program) if key.phase == UPDATE
        )
        for cost in step.costs:
            value, weight = _value_of(subject, cost, step.peak)
            if value is None:
                continue
            keys = cost.planned if self._planned else cost.parts
            places = frozenset(self.places[key] for key in keys if key in self.places)
            if not places and cost.phase == UPDATE:
                places = updates
            made.append(Source(value, places, weight=weight))
        return Figures(subject, tuple(made), "sum", unit)

    # ----- the Program itself -----

    def memory(self) -> Figures:
        """Bytes of the results of each operator; those of a view are the input's."""
        made = []
        for block, index, operator in self._operators():
            if operator["regions"] or self._is_view(operator["type"]) or phase_of(operator) == UPDATE:
                continue
            sizes = [self._bytes(block, name) for names in operator["outputs"].values() for name in names]
            if sizes and None not in sizes:
                made.append(Source(float(sum(size or 0 for size in sizes)), frozenset(((block, index),))))
        return Figures(MEMORY, tuple(made), "sum", "B", "log")

    def parameters(self) -> Figures:
        """Numbers in the parameters that operators read; one that several read counts once."""
        readers: dict[str, set[Place]] = defaultdict(set)
        sizes: dict[str, int] = {}
        for block, index, operator in self._operators():
            if phase_of(operator) != PHASES[0]:
                continue
            for names in operator["inputs"].values():
                for name in names:
                    variable = self.variable(block, name)
                    if variable is not None and variable["parameter"]:
                        readers[name].add((block, index))
                        sizes[name] = math.prod(max(size, 0) for size in variable["shape"])
        sources = [Source(float(sizes[name]), frozenset(found), True) for name, found in readers.items()]
        return Figures(PARAMETERS, tuple(sources), "sum", "", "log")

    def dtypes(self) -> Figures:
        """The dtype of the first result of each operator."""
        labels: dict[str, int] = {}
        made = []
        for block, index, operator in self._operators():
            names = [name for each in operator["outputs"].values() for name in each]
            variable = self.variable(block, names[0]) if names else None
            if variable is not None:
                number = labels.setdefault(variable["dtype"], len(labels))
                made.append(Source(float(number), frozenset(((block, index),))))
        return Figures(DTYPE, tuple(made), "same", "", "linear", tuple(labels))

    # ----- by layer -----

    def look(self, subject: str, look: LayerSnapshot) -> Figures:
        """One of ``LOOKED``: what a look at the layers saw."""
        rows = {row.name: row for row in look.rows}
        values = {
            name: {GRADIENT: row.gradient_norm, RATIO: row.ratio, DEAD: row.dead}[subject]
            for name, row in rows.items()
        }
        known = {name: value for name, value in values.items() if not math.isnan(value)}
        together: Together = "norm" if subject == GRADIENT else "largest"
        unit = "share" if subject == DEAD else ""
        return self.by_layer(subject, known, together, unit, "linear" if subject == DEAD else "log")

    def by_layer(
        self,
        subject: str,
        values: Mapping[str, float],
        together: Together,
        unit: str = "",
        scale: Literal["linear", "log"] = "linear",
    ) -> Figures:
        """A number for each layer by its name, in whichever of its calls."""
        places: dict[str, set[Place]] = defaultdict(set)
        for block, index, operator in self._operators():
            layer = layer_name(operator.get("layer", ""))
            if layer in values:
                places[layer].add((block, index))
        sources = tuple(Source(values[name], frozenset(found), True) for name, found in places.items())
        return Figures(subject, sources, together, unit, scale)

    def by_place(
        self,
        subject: str,
        values: Mapping[Place, float],
        unit: str = "",
        scale: Literal["linear", "log"] = "log",
    ) -> Figures:
        """A number for each operator; a group has the largest."""
        sources = tuple(Source(value, frozenset((place,))) for place, value in values.items())
        return Figures(subject, sources, "largest", unit, scale)

    def _operators(self) -> Iterable[tuple[int, int, Mapping[str, Any]]]:
        for block in self._program.get("blocks", ()):
            for index, operator in enumerate(block["ops"]):
                yield block["idx"], index, operator

    def _bytes(self, block: int, name: str) -> int | None:
        variable = self.variable(block, name)
        if variable is None:
            return None
        shape = list(variable["shape"])
        if shape and shape[0] < 0 and self._batch:
            shape[0] = self._batch
        if any(size < 0 for size in shape):
            return None
        return int(math.prod(shape)) * bits_of(variable["dtype"]) // 8


def _value_of(subject: str, cost: OperatorCost, peak: float) -> tuple[float | None, float]:
    """The value of a cost, and the seconds that a rate is over."""
    if subject in (RATE, PEAK):
        if cost.gflops is None or (subject == PEAK and not peak):
            return None, 0.0
        return (cost.gflops if subject == RATE else cost.gflops / peak), cost.seconds
    if subject == BYTES:
        return cost.bytes, 0.0
    if subject == CALLS:
        return cost.calls, 0.0
    return (cost.seconds, 0.0) if subject in (TIME, cost.phase) else (None, 0.0)


def bits_of(dtype: str) -> int:
    """Bits of a number of a dtype."""
    digits = "".join(letter for letter in dtype if letter.isdigit())
    return _BITS.get(dtype, int(digits) if digits else 32)
