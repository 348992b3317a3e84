"""Which operator of one Program is which of another: by phase, call of a Layer, type and order in that call.

The Program that a training runs is not the one that the window shows, and has other names of values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

LOSS, OPTIMIZER = "(loss)", "(optimizer)"
"""In place of a path: what a step of a training does outside of the network."""
FORWARD, BACKWARD, UPDATE = PHASES = ("forward", "backward", "update")
_BACKWARD, _UPDATE = 1, 2  # bits of Paddle's op_role


class OperatorKey(NamedTuple):
    """The operator number ``order`` of its ``type`` in one phase of one call of a Layer."""

    phase: str
    layer: str
    type: str
    order: int


def phase_of(operator: Mapping[str, Any]) -> str:
    """The phase of an operator of a plain Program: forward, backward or update."""
    notes = operator.get("notes") or {}
    attrs = notes.get("attrs") if isinstance(notes, Mapping) else None
    role = attrs.get("op_role", 0) if isinstance(attrs, Mapping) else 0
    if not isinstance(role, int):
        return FORWARD
    return UPDATE if role & _UPDATE else BACKWARD if role & _BACKWARD else FORWARD


def numbered(program: Mapping[str, Any]) -> Iterator[tuple[int, int, OperatorKey, Mapping[str, Any]]]:
    """Block, index, key and operator of all operators of a plain Program."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for block in program.get("blocks", ()):
        for index, operator in enumerate(block["ops"]):
            same = (phase_of(operator), operator.get("layer", ""), operator["type"])
            yield block["idx"], index, OperatorKey(*same, counts[same]), operator
            counts[same] += 1


def network_call(layer: str, root: str) -> str:
    """The path within the network that a step calls as ``root``; ``LOSS`` outside of it."""
    if not root or layer == root:
        return "" if layer == root else layer
    return layer[len(root) + 1 :] if layer.startswith(f"{root}.") else LOSS


def layer_name(path: str) -> str:
    """The name of the layer that a call is of: ``layer1.0.relu`` of ``layer1.0.relu#2``."""
    return ".".join(part.partition("#")[0] for part in path.split("."))


def within_network(program: Mapping[str, Any], root: str) -> dict[str, Any]:
    """A plain Program of a step, with paths within the network that it calls as ``root``.

    What computes the loss has no line: it would be one of the program that began the training.
    """
    blocks = [{**block, "ops": [_within(each, root) for each in block["ops"]]} for block in program["blocks"]]
    return {**program, "blocks": blocks}


def _within(operator: Mapping[str, Any], root: str) -> dict[str, Any]:
    layer = network_call(operator.get("layer", ""), root)
    nowhere = {"file": None, "line": None} if layer == LOSS else {}
    return {**operator, "layer": layer, **nowhere}
