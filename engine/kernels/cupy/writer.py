"""The rules of elementwise steps and updates (``engine/kernels/steps``) as statements of CUDA C."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from engine.kernels.cupy.source import FOLDER
from engine.kernels.steps.writer import FLOATS, Unsupported

# The types that a kind of value is stored in, and computed in.
STORED = {
    "float16": "half_t",
    "bfloat16": "bfloat_t",
    "float32": "float",
    "float64": "double",
    "bool": "bool",
    "int32": "int",
    "int64": "i64",
}
COMPUTED = {**STORED, "float16": "float", "bfloat16": "float"}
_WRAPS = {"int32": "u32", "int64": "u64"}
# CUDA's mathematical functions that rules call by name.
LIBRARY = frozenset(
    (
        *(
            "acos",
            "acosh",
            "asin",
            "asinh",
            "atan",
            "atan2",
            "atanh",
            "cos",
            "cosh",
            "sin",
            "sinh",
            "tan",
            "tanh",
        ),
        *("exp", "expm1", "log", "log10", "log1p", "log2", "pow", "sqrt", "hypot", "erf"),
        *("fabs", "floor", "ceil", "trunc", "rint", "fmax", "fmin", "fmod", "copysign"),
    )
)
NUMBERS = {"float": np.float32, "double": np.float64, "int": np.int32, "i64": np.int64}
_WORD = re.compile(r"\w+")


@cache
def helpers() -> str:
    """The device functions that generated code calls."""
    return (FOLDER / "steps.cuh").read_text(encoding="utf-8")


class Value(NamedTuple):
    """A value of a kind, and the expression that gives it."""

    kind: str
    text: str


class CudaWriter:
    """A :class:`~engine.kernels.steps.writer.Writer`: each operation is one statement.

    Numbers of attributes are parameters ``k0``, ``k1`` ... of the kernel, in ``given_numbers`` as NumPy
    scalars of their types, so that steps that differ in them alone share a kernel. The 16-bit kinds are
    computed in float; :meth:`settled` rounds an operator's result.
    """

    def __init__(self) -> None:
        self._operations: list[tuple[str, str, str]] = []  # kind, name, expression
        self.given_numbers: list[Any] = []

    def _made(self, kind: str, text: str) -> Value:
        name = f"t{len(self._operations)}"
        self._operations.append((kind, name, text))
        return Value(kind, name)

    def settled(self, x: Value) -> Value:
        """The result of an operator as memory would hold it."""
        if x.kind not in ("float16", "bfloat16"):
            return x
        return self._made(x.kind, f"as_stored<{STORED[x.kind]}>({x.text})")

    def kind(self, x: Value) -> str:
        return x.kind

    def number(self, like: Value, value: float) -> Value:
        one = COMPUTED[like.kind]
        if one == "bool":
            return Value(like.kind, "true" if value else "false")
        if one in ("int", "i64"):
            return Value(like.kind, f"({one}){int(value)}")
        if not math.isfinite(value):
            return self.given(like, value)
        with np.errstate(over="ignore"):
            rounded = float(np.float32(value)) if one == "float" else float(value)
        if not math.isfinite(rounded):
            return self.given(like, value)
        return Value(like.kind, f"{rounded!r}{'f' if one == 'float' else ''}")

    def given(self, like: Value, value: float) -> Value:
        one = COMPUTED[like.kind]
        if one == "bool":
            return self.number(like, value)
        self.given_numbers.append(NUMBERS[one](value))
        return Value(like.kind, f"k{len(self.given_numbers) - 1}")

    def statements(self, results: Iterable[Value]) -> list[str]:
        """Those that these values depend on, in their order."""
        read = {value.text for value in results}
        used = []
        for kind, name, text in reversed(self._operations):
            if name in read:
                used.append(f"const {COMPUTED[kind]} {name} = {text};")
                read.update(_WORD.findall(text))
        return used[::-1]

    def parameters(self) -> list[str]:
        """The kernel's parameters for the numbers of attributes."""
        names = {scalar: name for name, scalar in NUMBERS.items()}
        return [f"{names[type(each)]} k{n}" for n, each in enumerate(self.given_numbers)]

    def truth(self, like: Value, value: bool) -> Value:
        return Value("bool", "true" if value else "false")

    # -- arithmetic --
    def _arithmetic(self, sign: str, x: Value, y: Value) -> Value:
        wide = _WRAPS.get(x.kind)
        if wide is None:
            return self._made(x.kind, f"{x.text} {sign} {y.text}")
        # Integers wrap around, which C promises for unsigned ones alone.
        return self._made(x.kind, f"({COMPUTED[x.kind]})(({wide}){x.text} {sign} ({wide}){y.text})")

    def add(self, x: Value, y: Value) -> Value:
        return self._arithmetic("+", x, y)

    def sub(self, x: Value, y: Value) -> Value:
        return self._arithmetic("-", x, y)

    def mul(self, x: Value, y: Value) -> Value:
        return self._arithmetic("*", x, y)

    def div(self, x: Value, y: Value) -> Value:
        return self._made(x.kind, f"{x.text} / {y.text}")

    def negative(self, x: Value) -> Value:
        return self._made(x.kind, f"-({x.text})")

    def absolute(self, x: Value) -> Value:
        return self.function("fabs", x)

    def root(self, x: Value) -> Value:
        return self.function("sqrt", x)

    def rounded(self, x: Value, how: str) -> Value:
        return self.function("rint" if how == "roundeven" else how, x)

    def with_sign(self, x: Value, sign: Value) -> Value:
        return self.function("copysign", x, sign)

    def maximum(self, x: Value, y: Value) -> Value:
        return self._made(x.kind, f"larger_of({x.text}, {y.text})")

    def minimum(self, x: Value, y: Value) -> Value:
        return self._made(x.kind, f"smaller_of({x.text}, {y.text})")

    def limited(self, x: Value, low: Value | None, high: Value | None) -> Value:
        if low is not None:
            x = self.select(self.compare("<", x, low), low, x)
        return x if high is None else self.select(self.compare(">", x, high), high, x)

    # -- truths --
    def compare(self, sign: str, x: Value, y: Value) -> Value:
        return self._made("bool", f"{x.text} {sign} {y.text}")

    def is_nan(self, x: Value) -> Value:
        return self._made("bool", f"{x.text} != {x.text}")

    def select(self, condition: Value, x: Value, y: Value) -> Value:
        return self._made(x.kind, f"{condition.text} ? {x.text} : {y.text}")

    def both(self, x: Value, y: Value) -> Value:
        return self._made("bool", f"{x.text} && {y.text}")

    def either(self, x: Value, y: Value) -> Value:
        return self._made("bool", f"{x.text} || {y.text}")

    def exactly_one(self, x: Value, y: Value) -> Value:
        return self._made("bool", f"{x.text} != {y.text}")

    def opposite(self, x: Value) -> Value:
        return self._made("bool", f"!{x.text}")

    # -- functions --
    def exp(self, x: Value) -> Value:
        return self.function("exp", x)

    def expm1(self, x: Value) -> Value:
        return self.function("expm1", x)

    def log(self, x: Value) -> Value:
        return self.function("log", x)

    def log1p(self, x: Value) -> Value:
        return self.function("log1p", x)

    def tanh(self, x: Value) -> Value:
        return self.function("tanh", x)

    def sigmoid(self, x: Value) -> Value:
        return self._made(x.kind, f"sigmoid_of({x.text})")

    def erf(self, x: Value) -> Value:
        return self.function("erf", x)

    def function(self, name: str, *values: Value) -> Value:
        kind = values[0].kind
        if kind not in FLOATS or name not in LIBRARY:
            raise Unsupported
        texts = ", ".join(x.text for x in values)
        return self._made(kind, f"{name}{'f' if COMPUTED[kind] == 'float' else ''}({texts})")

    def cast(self, x: Value, kind: str) -> Value:
        if kind not in COMPUTED:
            raise Unsupported
        return self._made(kind, f"({COMPUTED[kind]}){x.text}")
