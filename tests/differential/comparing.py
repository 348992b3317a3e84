"""What a call gives with Paddle next to what it gives here: equal, or in which way it differs."""

from __future__ import annotations

import builtins
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.differential.calls import without_values
from tests.oracle.compare import INTERNAL

# Relative to the value, and a fifth of that to the largest value: random arguments add up rounding.
RELATIVE = {
    "float16": 1e-2,
    "bfloat16": 4e-2,
    "float32": 1e-4,
    "float64": 1e-7,
    "complex64": 1e-4,
    "complex128": 1e-7,
}
NUMBER = 1e-4
OF_GRADIENTS = 5  # times as much

EQUAL = "equal"
REFUSED = "both refuse"
CLASS = "refused with another class"
KIND = "refused with another kind"
RAW = "refused by accident"
HERE = "refused only here"
THERE = "refused only there"
WRONG_SHAPE = "a declared shape is wrong there"
MORE_SHAPE = "more of a declared shape"
LESS_SHAPE = "less of a declared shape"

# Texts of Paddle 2.6.2 where its CPU lacks a kernel: what NumPy computes stays as it is.
NO_KERNEL = re.compile(
    r"is not registered|has not been registered|no kernels|kernel .* is not|kernel_factory|"
    r"must be (one of )?[\[\(<]|not support|"
    r"[Uu]nsupported|only support|should be (one of )?[\[\(]|[Dd]ata ?[Tt]ype|dtype (of|must|should)|"
    r"NotImplementedError|"
    r"\(Unimplemented\)|same type|No such (operator|kernel)|can not be found",
    re.DOTALL,
)

# What Paddle says behind the stack that it adds where a Program fails.
_TRACED = re.compile(r"\n\s*(?=[A-Za-z]+Error: )")


@dataclass(frozen=True)
class Outcome:
    """How the two results of a call compare: a category and what was seen."""

    category: str
    detail: str = ""


class Difference(Exception):
    """Raised where two results begin to differ: the category, and both sides."""

    def __init__(self, category: str, detail: str) -> None:
        super().__init__(detail)
        self.outcome = Outcome(category, detail)


def compare(call: dict[str, Any], theirs: dict[str, Any], ours: dict[str, Any]) -> Outcome:
    """Paddle's result of one mode with the engine's."""
    if "raises" in theirs or "raises" in ours:
        return refusals(theirs, ours)
    values = not without_values(call["name"])
    try:
        same(theirs["result"], ours["result"], values, 1)
        same(theirs.get("plain"), ours.get("plain"), values, 1)
        if "changed" in theirs:
            same(theirs["changed"], ours["changed"], values, 1)
        if theirs.get("declared") != ours.get("declared"):
            return Outcome("declared dtype", f"{theirs.get('declared')} != {ours.get('declared')}")
        if values:
            gradients(theirs.get("gradients"), ours.get("gradients"))
        sizes = theirs.get("sizes"), ours.get("sizes")
        if sizes[0] != sizes[1]:
            return _declared(*sizes, ours["result"])
    except Difference as found:
        return found.outcome
    if call["grad"] and flags(theirs["result"]) != flags(ours["result"]):
        return Outcome("stop_gradient", f"{flags(theirs['result'])} != {flags(ours['result'])}")
    return Outcome(EQUAL)


def _declared(theirs: list[list[int]], ours: list[list[int]], results: list[Any]) -> Outcome:
    """The shapes that a Program declares: wrong ones of Paddle, and sizes that only one of both knows."""
    detail = f"{theirs} != {ours}"
    shapes = [each["shape"] for each in results]
    if not all(_fits(a, b) for a, b in zip(theirs, shapes, strict=True)):
        return Outcome(WRONG_SHAPE, detail)
    if not all(_fits(a, b) for a, b in zip(ours, shapes, strict=True)):
        return Outcome("declared shape", detail)
    less = any(n == -1 != m for a, b in zip(theirs, ours, strict=True) for m, n in zip(a, b, strict=True))
    return Outcome(LESS_SHAPE if less else MORE_SHAPE, detail)


def _fits(declared: list[int], shape: list[int]) -> bool:
    return len(declared) == len(shape) and all(m in (-1, n) for m, n in zip(declared, shape, strict=True))


def refusals(theirs: dict[str, Any], ours: dict[str, Any]) -> Outcome:
    text = _TRACED.split(theirs.get("text", ""))[-1]
    if "raises" not in ours:
        return Outcome(THERE, f"{theirs['raises'][0]}: {text}  HERE: {str(ours)[:160]}")
    said = f"{ours['raises'][0]}: {ours['text']}"
    if "raises" not in theirs:
        return Outcome(HERE, f"{said}  THERE: {str(theirs)[:160]}")
    both = f"{theirs['raises'][0]}: {text}  HERE {said}"
    name = theirs["raises"][0]
    if not ours["own"] and name not in ours["raises"]:
        return Outcome(RAW, both)
    if name not in ours["raises"] and not (name in INTERNAL and ours["own"]):
        return Outcome(CLASS, both)
    # Checks in Paddle's Python code have no word for their kind, which the engine's errors always have.
    known = theirs["kind"] and issubclass(getattr(builtins, name, Exception), ValueError)
    if known and theirs["kind"] != ours["kind"]:
        return Outcome(KIND, both)
    return Outcome(REFUSED)


def gradients(theirs: Any, ours: Any) -> None:
    if isinstance(theirs, dict) or isinstance(ours, dict):
        if type(theirs) is not type(ours):
            raise Difference("gradient refused", f"{str(theirs)[:200]} != {str(ours)[:200]}")
        return
    theirs, ours = ([] if all(map(_absent, each or ())) else each for each in (theirs, ours))
    if len(theirs) != len(ours):
        raise Difference("gradient missing", f"{str(theirs)[:200]} != {str(ours)[:200]}")
    for each, other in zip(theirs, ours, strict=True):
        absent = [_absent(each), _absent(other)]
        if absent[0] != absent[1]:
            raise Difference("gradient missing", f"{str(each)[:200]} != {str(other)[:200]}")
        if absent[0]:
            continue
        try:
            same(each, other, True, OF_GRADIENTS)
        except Difference as found:
            category = found.outcome.category
            raise Difference(f"gradient: {category}", found.outcome.detail) from None


def _absent(gradient: Any) -> bool:
    return gradient in (None, {"value": None})


def same(theirs: Any, ours: Any, values: bool, factor: float) -> None:
    if isinstance(theirs, list) and isinstance(ours, list):
        if len(theirs) != len(ours):
            raise Difference("structure", f"{len(theirs)} results != {len(ours)}")
        for each, other in zip(theirs, ours, strict=True):
            same(each, other, values, factor)
        return
    if theirs is None and ours is None:
        return
    if not isinstance(theirs, dict) or not isinstance(ours, dict) or set(theirs) != set(ours):
        raise Difference("structure", f"{str(theirs)[:150]} != {str(ours)[:150]}")
    if "several" in theirs:
        if theirs["in"] != ours["in"]:
            raise Difference("structure", f"{theirs['in']} != {ours['in']}")
        return same(theirs["several"], ours["several"], values, factor)
    if "sparse" in theirs:
        return same(theirs["sparse"], ours["sparse"], values, factor)
    dtype = theirs.get("tensor") or theirs.get("scalar")
    if not dtype:
        return _plain(theirs, ours, values)
    other = ours.get("tensor") or ours.get("scalar")
    if theirs["shape"] != ours["shape"]:
        raise Difference("shape", f"{theirs['shape']} != {ours['shape']}")
    if dtype != other:
        raise Difference("dtype", f"{dtype} != {other}")
    if values:
        _close(theirs["data"], ours["data"], dtype, factor)


def _plain(theirs: dict[str, Any], ours: dict[str, Any], values: bool) -> None:
    (a,), (b,) = theirs.values(), ours.values()
    if type(a) is type(b) and (a == b or not values):
        return
    numbers = isinstance(a, float) and isinstance(b, float)
    if not numbers or not np.isclose(a, b, rtol=NUMBER, equal_nan=True):
        raise Difference("value" if type(a) is type(b) else "structure", f"{theirs} != {ours}")


def _close(theirs: list[Any], ours: list[Any], dtype: str, factor: float) -> None:
    if dtype not in RELATIVE:
        if theirs != ours:
            raise Difference("value", f"{dtype} {theirs[:12]} != {ours[:12]}")
        return
    want, got = np.asarray(theirs, "float64"), np.asarray(ours, "float64")
    relative = RELATIVE[dtype] * factor
    finite = np.isfinite(want) & np.isfinite(got)
    largest = float(np.abs(want[finite]).max()) if finite.any() else 0.0
    absolute = 0.2 * relative * largest + 1e-4 * relative
    bad = ~np.isclose(got, want, rtol=relative, atol=absolute, equal_nan=True)
    if not bad.any():
        return
    seen = f"{dtype} {_rounded(want, bad)} != {_rounded(got, bad)}"
    raise Difference("value" if (bad & finite).any() else "not finite", seen)


def _rounded(values: Any, bad: Any) -> list[float]:
    return [float(f"{each:.7g}") for each in values[bad][:6]]


def flags(result: Any) -> list[Any]:
    if isinstance(result, dict) and "several" in result:
        return [flag for each in result["several"] for flag in flags(each)]
    if isinstance(result, dict) and "stop_gradient" in result:
        return [result["stop_gradient"]]
    return []
