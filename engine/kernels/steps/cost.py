"""What an elementwise operator costs, counted in the trace of its kernel: which groups gain by being one.

A kernel whose trace fails is not a formula of single elements: it has no cost, and is never fused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from engine.core.operators import traits
from engine.core.operators.opdef import OPS, REQUIRED, OpDef
from engine.kernels.steps.traced import traced
from engine.kernels.steps.writer import Unsupported

_PROBE = 2.5  # for a number that an operator has no default of


class Cost(NamedTuple):
    """``operations`` of the trace, of them ``functions`` such as exp; ``selects`` choose element by element.

    ``library``: a function of C's library is called, or one of float64 that compiled loops lack.
    ``own_limit``: the whole operator is the larger or smaller of its input and a number of its own.
    """

    operations: int
    functions: int
    selects: int
    library: bool
    own_limit: bool


class _Counted(NamedTuple):
    kind: str
    number: str = ""  # "own" or "given" for a number


class _Counter:
    """A :class:`~engine.kernels.steps.writer.Writer` that writes nothing."""

    def __init__(self) -> None:
        self.operations = self.functions = self.selects = self.limits = 0
        self.library = False

    def kind(self, x: _Counted) -> str:
        return x.kind

    def number(self, like: _Counted, value: float) -> _Counted:
        return _Counted(like.kind, "own")

    def given(self, like: _Counted, value: float) -> _Counted:
        return _Counted(like.kind, "given")

    def truth(self, like: _Counted, value: bool) -> _Counted:
        return _Counted("bool", "own")

    def _made(self, kind: str) -> _Counted:
        self.operations += 1
        return _Counted(kind)

    def _same(self, x: _Counted, *others: Any) -> _Counted:
        return self._made(x.kind)

    add = sub = mul = div = negative = absolute = root = rounded = with_sign = _same

    def limited(self, x: _Counted, low: _Counted | None, high: _Counted | None) -> _Counted:
        self.operations += low is not None and high is not None  # each limit is one
        return self._made(x.kind)

    def maximum(self, x: _Counted, y: _Counted) -> _Counted:
        self.limits += "own" in (x.number, y.number)
        return self._made(x.kind)

    minimum = maximum

    def _truth(self, *values: Any) -> _Counted:
        return self._made("bool")

    compare = is_nan = both = either = exactly_one = opposite = _truth

    def select(self, condition: _Counted, x: _Counted, y: _Counted) -> _Counted:
        self.selects += 1
        return self._made(x.kind)

    def _function(self, x: _Counted) -> _Counted:
        self.functions += 1
        return self._made(x.kind)

    exp = expm1 = log = log1p = tanh = _function

    def sigmoid(self, x: _Counted) -> _Counted:
        self.operations += 3  # the array module takes as many
        return self._function(x)

    def erf(self, x: _Counted) -> _Counted:
        self.library = self.library or x.kind != "float32"
        return self.sigmoid(x)

    def function(self, name: str, *values: _Counted) -> _Counted:
        self.library = True
        return self._function(values[0])

    def cast(self, x: _Counted, kind: str) -> _Counted:
        return self._made(kind)


def cost_of(opdef: OpDef, kinds: Sequence[str], attrs: Mapping[str, Any]) -> Cost | None:
    """The cost of an operator for inputs of these dtypes; None where it is not a formula of elements."""
    if not is_candidate(opdef):
        return None
    try:
        return _cached(opdef.name, tuple(kinds), tuple(attrs.items()))
    except TypeError:  # an attribute that can't be a key, such as the strides of a convolution
        return None


def probed_cost(opdef: OpDef) -> Cost | None:
    """The cost for float32 with any numbers as attributes: what is said of an operator as such."""
    kinds = ["bool" if n in ("condition", "mask") else "float32" for n in opdef.input_names]
    numbers = {
        name: _PROBE if value is REQUIRED or value is None or isinstance(value, float) else value
        for name, value in opdef.attributes.items()
    }
    return cost_of(opdef, kinds, numbers)


def is_one_call(opdef: OpDef) -> bool:
    """Whether the array module computes an operator by one function of its own."""
    return opdef.overrides.get("cpu", (None, False))[1]


@lru_cache(maxsize=1024)
def is_candidate(opdef: OpDef) -> bool:
    """Whether an operator may be a formula of single elements, by what is declared of it."""
    inputs = opdef.inputs
    many = len(opdef.outputs) != 1 or opdef.listed or any(i.is_list or i.optional for i in inputs)
    return bool(inputs) and not (
        many
        or opdef.random
        or opdef.effect
        or opdef.view
        or opdef in traits.opaque
        or opdef.regions
        or opdef in traits.moves
    )


@lru_cache(maxsize=4096)
def _cached(name: str, kinds: tuple[str, ...], attrs: tuple[tuple[str, Any], ...]) -> Cost | None:
    return _counted(name, kinds, dict(attrs))


def _counted(name: str, kinds: Sequence[str], attrs: Mapping[str, Any]) -> Cost | None:
    w = _Counter()
    if name not in OPS:
        return None
    try:
        traced(w, name, [_Counted(kind) for kind in kinds], attrs)
    except Unsupported:
        return None
    return Cost(w.operations, w.functions, w.selects, w.library, w.limits == w.operations == 1)
