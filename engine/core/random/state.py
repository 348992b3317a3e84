"""Checks the states of generators before they are set: NumPy and Python read some of these numbers unchecked.

A position outside NumPy's key reads foreign memory, and a state of zeros stays zero, so that a loop that
draws until a number is accepted never ends.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import ArgumentError

KEY_WORDS = 624  # of NumPy's and Python's Mersenne Twister, words of 32 bits
_MOST = sys.float_info.max
_PYTHON_VERSION = 3
_REMEDY = "pass the generator's own state, or resume from another checkpoint"


def entry(where: str, state: object, name: str) -> Any:
    """The entry ``name`` of a state. Raises ArgumentError where the state has none."""
    if not isinstance(state, Mapping) or name not in state:
        seen = sorted(map(str, state)) if isinstance(state, Mapping) else type(state).__name__
        raise ArgumentError(f"{where}: not the state of a generator: no {name!r} in {seen!r:.80}; {_REMEDY}")
    return state[name]


def integer(where: str, state: object, name: str, most: int | None = None) -> int:
    """An integer of a state, from 0 to ``most`` where that is given. Raises ArgumentError."""
    value = entry(where, state, name)
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ArgumentError(f"{where}: {name} must be an integer: got {_seen(value)}; {_REMEDY}")
    if most is not None and not 0 <= value <= most:
        raise ArgumentError(f"{where}: {name} must be from 0 to {most}: got {value}; {_REMEDY}")
    return int(value)


def finite_number(where: str, state: object, name: str) -> float:
    """A finite float of a state. Raises ArgumentError."""
    value = entry(where, state, name)
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise ArgumentError(f"{where}: {name} must be a number: got {_seen(value)}; {_REMEDY}")
    if not -_MOST <= value <= _MOST:
        raise ArgumentError(f"{where}: {name} must be finite: got {_seen(value)}; {_REMEDY}")
    return float(value)


def key_words(where: str, state: object, name: str, count: int, dtype: type[np.integer[Any]]) -> NDArray[Any]:
    """The words of a Mersenne Twister: ``count`` of ``dtype``, not all of them zero. Raises ArgumentError."""
    value = entry(where, state, name)
    if not isinstance(value, np.ndarray) or value.shape != (count,) or value.dtype.kind not in "iu":
        seen = (
            f"shape {list(value.shape)}, dtype {value.dtype}"
            if isinstance(value, np.ndarray)
            else _seen(value)
        )
        raise ArgumentError(f"{where}: {name} must be {count} integers: got {seen}; {_REMEDY}")
    if int(value.min()) < 0 or int(value.max()) > np.iinfo(dtype).max:
        raise ArgumentError(
            f"{where}: {name} must be of {np.dtype(dtype).itemsize * 8} bits: got {int(value.min())} to "
            f"{int(value.max())}; {_REMEDY}"
        )
    words: NDArray[Any] = value.astype(dtype)
    # Only the highest bit of the first word takes part: the lower 31 belong to no state.
    if not words[1:].any() and int(words[0]) >> 31 == 0:
        raise ArgumentError(f"{where}: {name} are all 0, which gives nothing but 0; {_REMEDY}")
    return words


def numpy_state(state: object) -> tuple[str, NDArray[np.uint32], int, int, float]:
    """The arguments of ``numpy.random.set_state``, from plain values. Raises ArgumentError."""
    where = "set_state: NumPy's generator"
    kind = entry(where, state, "kind")
    if not isinstance(kind, str) or kind != "MT19937":
        raise ArgumentError(f"{where}: kind must be 'MT19937': got {_seen(kind)}; {_REMEDY}")
    return (
        "MT19937",
        key_words(where, state, "keys", KEY_WORDS, np.uint32),
        integer(where, state, "position", KEY_WORDS),
        integer(where, state, "has_gauss", 1),
        finite_number(where, state, "gauss"),
    )


def python_state(state: object) -> tuple[int, tuple[int, ...], float | None]:
    """The argument of ``random.setstate``, from plain values; a spare number of NaN is none.

    Raises ArgumentError.
    """
    where = "set_state: Python's generator"
    if (version := integer(where, state, "version")) != _PYTHON_VERSION:
        raise ArgumentError(f"{where}: version must be {_PYTHON_VERSION}: got {version}; {_REMEDY}")
    # The words and, after them, the position.
    internal = entry(where, state, "internal")
    if not isinstance(internal, np.ndarray) or internal.shape != (KEY_WORDS + 1,):
        seen = list(internal.shape) if isinstance(internal, np.ndarray) else type(internal).__name__
        raise ArgumentError(f"{where}: internal must be {KEY_WORDS + 1} integers: got {seen}; {_REMEDY}")
    words = key_words(where, {"internal": internal[:-1]}, "internal", KEY_WORDS, np.uint32)
    position = integer(where, {"position": internal[-1]}, "position", KEY_WORDS)
    spare = entry(where, state, "spare")
    none = isinstance(spare, float) and math.isnan(spare)
    return (
        _PYTHON_VERSION,
        (*words.tolist(), position),
        None if none else finite_number(where, state, "spare"),
    )


def _seen(value: object) -> str:
    """A value in one short line."""
    return " ".join(repr(value).split())[:80]
