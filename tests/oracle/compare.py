"""Compares a result with the recorded one: exactly, but for floating values, which may differ by rounding."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from engine.core.errors import EngineError

# Relative to the value, and a fifth of that relative to the largest value of the tensor.
RELATIVE = {
    "float16": 4e-3,
    "bfloat16": 2e-2,
    "float32": 1e-5,
    "float64": 1e-9,
    "complex64": 1e-5,
    "complex128": 1e-9,
}
NUMBER = 1e-6  # Python floats: most come from a float32

# What Paddle's internals raise where an argument is wrong; ours is then any error that we raise on purpose.
INTERNAL = (
    "RuntimeError",
    "OSError",
    "SystemError",
    "AssertionError",
    "NotImplementedError",
    "MemoryError",
    "AttributeError",
    "UnboundLocalError",
    "KeyError",
    "ZeroDivisionError",
    "NameError",
)


def accepted(name: str, error: BaseException) -> bool:
    """Whether our ``error`` is caught by who catches the recorded class, or stands for an internal one."""
    if isinstance(error, getattr(builtins, name)):
        return True
    return name in INTERNAL and isinstance(error, EngineError)


def _close(want: Any, got: Any, relative: float) -> str:
    want, got = np.asarray(want, "float64"), np.asarray(got, "float64")
    finite = np.abs(want[np.isfinite(want)])
    absolute = relative * (0.2 * float(finite.max()) if finite.size else 0.0) + relative * 1e-4
    bad = ~np.isclose(got, want, rtol=relative, atol=absolute, equal_nan=True)
    if not bad.any():
        return ""
    place = int(np.argmax(bad))
    first = f"first at flat {place}: {want[place]!r} != {got[place]!r}"
    return f"{int(bad.sum())} of {want.size} values differ, {first}"


def difference(want: Any, got: Any, at: str = "", tolerance: float | None = None) -> str:
    """What is different between two encoded results, Paddle's first; empty where nothing is."""
    where = f"{at}: " if at else ""
    if isinstance(want, dict) and isinstance(got, dict):
        if set(want) != set(got):
            return f"{where}{_short(want)} != {_short(got)}"
        kind = str(want.get("tensor") or want.get("array") or want.get("scalar"))
        for key, value in want.items():
            if key == "data" and kind in RELATIVE:
                if len(value) != len(got["data"]):
                    return f"{where}{len(value)} values != {len(got['data'])}"
                said = _close(value, got["data"], tolerance or RELATIVE[kind])
                said = said and where + said
            else:
                said = difference(value, got[key], f"{at}.{key}".lstrip("."), tolerance)
            if said:
                return said
        return ""
    if isinstance(want, list) and isinstance(got, list):
        if len(want) != len(got):
            return f"{where}{len(want)} items != {len(got)}: {_short(want)} != {_short(got)}"
        for n, (a, b) in enumerate(zip(want, got, strict=True)):
            said = difference(a, b, f"{at}[{n}]", tolerance)
            if said:
                return said
        return ""
    if isinstance(want, float) and type(got) is float:
        said = _close([want], [got], tolerance or NUMBER)
        return said and where + said
    if type(want) is not type(got) or want != got:
        return f"{where}{want!r}\n!=\n{got!r}"
    return ""


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 300 else text[:300] + "..."
