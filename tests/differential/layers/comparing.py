"""What a layer gives in one mode with Paddle next to what it gives here."""

from __future__ import annotations

import re
from typing import Any

from tests.differential.comparing import (
    EQUAL,
    KIND,
    REFUSED,
    Difference,
    Outcome,
    flags,
    gradients,
    refusals,
    same,
)

GENERATED = re.compile(r"^(eager_tmp|generated_tensor)_[0-9]+$")
ROUNDING = 2e-6  # of the largest gradient: such a difference is left where parts cancel each other
TEXTS = ("printed", "training", "names", "tensors", "parameters", "buffers", "state")


def compare(mode: str, theirs: dict[str, Any], ours: dict[str, Any]) -> Outcome:
    """The first difference; text and names before values. Kinds of errors are those of eager calls.

    Loaded layers have no gradients in Paddle 2.6.2, also after train(), and integers have flags as if they
    had: both are deviations (tests/oracle/deviations_layers.py, decision 0016), which would hide others here.
    """
    saved = mode.startswith("saved")
    if "raises" in theirs or "raises" in ours:
        found = refusals(theirs, ours)
        worded = mode in ("layer", "eager") and theirs.get("kind")
        return Outcome(REFUSED) if found.category == KIND and not worded else found
    for part in TEXTS:
        there, here = _named(theirs.get(part)), _named(ours.get(part))
        if there != here:
            return Outcome(part, f"{there} != {here}")
    try:
        for part in ("result", "trained", "after"):
            if part in theirs or part in ours:
                there, here = theirs.get(part), ours.get(part)
                if saved and part == "after":  # buffers of a loaded layer are in another order
                    there, here = _ordered(there), _ordered(here)
                _compare_values(part, there, here, not saved)
        if not saved:
            gradients(*_without_rounding(theirs.get("gradients"), ours.get("gradients")))
    except Difference as found:
        return found.outcome
    return Outcome(EQUAL)


def _compare_values(part: str, theirs: Any, ours: Any, flagged: bool) -> None:
    try:
        same(theirs, ours, True, 1)
    except Difference as found:
        outcome = found.outcome
        raise Difference(f"{part}: {outcome.category}", outcome.detail) from None
    there, here = flags(_inexact(theirs)), flags(_inexact(ours))
    if flagged and there != here:
        raise Difference(f"{part}: stop_gradient", f"{there} != {here}")


def _ordered(buffers: Any) -> Any:
    return sorted(buffers or [], key=lambda each: (each["shape"], each["data"]))


def _inexact(encoded: Any) -> Any:
    """Without the tensors of integers and truth values."""
    if isinstance(encoded, dict) and "several" in encoded:
        return {**encoded, "several": [_inexact(each) for each in encoded["several"]]}
    return encoded if isinstance(encoded, dict) and "float" in str(encoded.get("tensor")) else None


def _named(values: Any) -> Any:
    """Names of tensors that have none from the layer are numbered otherwise."""
    if isinstance(values, list):
        return [_named(each) for each in values]
    return GENERATED.sub("generated", values) if isinstance(values, str) else values


def _without_rounding(theirs: Any, ours: Any) -> tuple[Any, Any]:
    """Both lists of gradients, equal where they differ by rounding only."""
    if not isinstance(theirs, list) or not isinstance(ours, list) or len(theirs) != len(ours):
        return theirs, ours
    numbers = [abs(n) for each in theirs for n in (each or {}).get("data", ()) if abs(n) < float("inf")]
    smallest = ROUNDING * max(numbers, default=0.0)
    return theirs, [_snapped(*pair, smallest) for pair in zip(theirs, ours, strict=True)]


def _snapped(theirs: Any, ours: Any, smallest: float) -> Any:
    there, here = ((each or {}).get("data") for each in (theirs, ours))
    if not there or not here or len(there) != len(here):
        return ours
    return {**ours, "data": [a if abs(a - b) < smallest else b for a, b in zip(there, here, strict=True)]}
