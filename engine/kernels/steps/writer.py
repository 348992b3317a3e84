"""Protocols for rules: values of some kind, and a writer that knows how a backend computes them."""

from __future__ import annotations

from typing import Any, Protocol

Value = Any  # the values of a writer: a value of LLVM, the name of a variable of CUDA C

FLOATS = frozenset(("float16", "bfloat16", "float32", "float64"))


class Unsupported(Exception):
    """An operator with these dtypes or attributes stays with the array module."""


class Writer(Protocol):
    """Writes the operations of one backend.

    Values have a kind: the name of a dtype. Both values of an operation are of one kind. Products and sums
    are never contracted, so arithmetic is bitwise identical to NumPy's; operations that a backend lacks raise
    :class:`Unsupported`.
    """

    def kind(self, x: Value) -> str:
        """The name of the dtype of a value: float32, float64, bool, int32, int64 ..."""

    def number(self, like: Value, value: float) -> Value:
        """A number of the rule itself, of the kind of ``like``."""

    def given(self, like: Value, value: float) -> Value:
        """A number of an operator's attributes, of the kind of ``like``: other ones need no other code."""

    def truth(self, like: Value, value: bool) -> Value:
        """True or False for each element of ``like``."""

    # Arithmetic of floats and integers.
    def add(self, x: Value, y: Value) -> Value: ...
    def sub(self, x: Value, y: Value) -> Value: ...
    def mul(self, x: Value, y: Value) -> Value: ...

    # Arithmetic of floats.
    def div(self, x: Value, y: Value) -> Value: ...
    def negative(self, x: Value) -> Value: ...
    def absolute(self, x: Value) -> Value: ...

    def root(self, x: Value) -> Value:
        """The square root, rounded as IEEE 754 has it."""

    def rounded(self, x: Value, how: str) -> Value:
        """An integer: ``how`` is "floor", "ceil", "trunc" or "roundeven"."""

    def with_sign(self, x: Value, sign: Value) -> Value:
        """``x`` with the sign of ``sign``."""

    def maximum(self, x: Value, y: Value) -> Value:
        """The larger one; NaN where either is NaN, as NumPy's ``maximum``. Of integers too."""

    def minimum(self, x: Value, y: Value) -> Value:
        """The smaller one, likewise."""

    def limited(self, x: Value, low: Value | None, high: Value | None) -> Value:
        """``x`` within [low, high]; NaN stays NaN, and -0 where a limit is 0, as of NumPy's ``clip``."""

    # Truths.
    def compare(self, sign: str, x: Value, y: Value) -> Value:
        """``sign`` is one of Python's; with NaN only "!=" is true."""

    def is_nan(self, x: Value) -> Value: ...

    def select(self, condition: Value, x: Value, y: Value) -> Value:
        """``x`` where the condition is true, else ``y``."""

    def both(self, x: Value, y: Value) -> Value: ...
    def either(self, x: Value, y: Value) -> Value: ...
    def exactly_one(self, x: Value, y: Value) -> Value: ...
    def opposite(self, x: Value) -> Value: ...

    # Functions of floats.
    def exp(self, x: Value) -> Value: ...
    def expm1(self, x: Value) -> Value: ...
    def log(self, x: Value) -> Value: ...
    def log1p(self, x: Value) -> Value: ...
    def tanh(self, x: Value) -> Value: ...
    def sigmoid(self, x: Value) -> Value: ...
    def erf(self, x: Value) -> Value: ...

    def function(self, name: str, *values: Value) -> Value:
        """A function of C's mathematical library by its name, such as "sin"."""

    def cast(self, x: Value, kind: str) -> Value:
        """``x`` in another kind."""
