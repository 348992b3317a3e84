"""Which public functions explain the raw errors of their arguments, and which are too short to pay for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.core.raw_errors import explain_errors

_ROOMS = (
    "engine.tensor.", "engine.nn.functional.", "engine.fft", "engine.eager.backward", "engine.metric.",
    "engine.geometric.", "engine.incubate.", "engine.audio.functional.", "engine.text.", "engine.vision.ops.",
)  # fmt: skip

# Their operators take about a microsecond, of which the 30 to 60 ns of catching would be felt.
HOT = frozenset((
    "add", "subtract", "multiply", "divide", "matmul", "pow", "scale", "cast", "reshape", "transpose", "relu",
))  # fmt: skip


def explain_public(namespace: Mapping[str, Any]) -> None:
    """Let the functions of a public namespace, or the methods of a class, explain raw errors."""
    explain_errors(namespace, _ROOMS, HOT)
