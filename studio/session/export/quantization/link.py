"""Which operators of a Program are those of a quantized layer; plain values on both sides."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from engine.quantization.report import LayerReport

Place: TypeAlias = tuple[int, int]
"""Block and operator, by index."""

# They stand between a weight and the operator that multiplies it.
_BETWEEN = ("quantize_linear", "dequantize_linear")
_BETWEEN_PREFIX = "fake_"
_MOST_STEPS = 4


def places_of(program: Mapping[str, Any], layers: Iterable[LayerReport]) -> dict[str, list[Place]]:
    """For each layer whose weight the Program has: its operators, the one that multiplies first, then those
    that quantize the weight.

    Args:
        program: as ``serialize.to_plain`` gives it; empty for none.
    """
    readers: dict[tuple[int, str], list[int]] = defaultdict(list)
    operators: dict[int, Any] = {}
    for block in program.get("blocks", []):
        operators[block["idx"]] = block["ops"]
        for index, operator in enumerate(block["ops"]):
            for name in {name for names in operator["inputs"].values() for name in names}:
                readers[block["idx"], name].append(index)
    found = {}
    for layer in layers:
        places = [
            place for block in operators for place in _walk(block, layer.weight, operators[block], readers)
        ]
        if layer.weight and places:
            found[layer.name] = places
    return found


def _walk(
    block: int, weight: str, operators: list[Any], readers: Mapping[tuple[int, str], list[int]]
) -> list[Place]:
    """Those that use the weight, itself or quantized."""
    users: list[Place] = []
    between: list[Place] = []
    names = [weight]
    for _ in range(_MOST_STEPS):
        after: list[str] = []
        for index in dict.fromkeys(index for name in names for index in readers.get((block, name), ())):
            kind = operators[index]["type"]
            if kind in _BETWEEN or kind.startswith(_BETWEEN_PREFIX):
                between.append((block, index))
                after += [name for outputs in operators[index]["outputs"].values() for name in outputs]
            else:
                users.append((block, index))
        names = after
        if not names:
            break
    return [*users, *between]


def weight_at(program: Mapping[str, Any], place: Place) -> str:
    """The name of the weight that this operator multiplies by: a parameter of two dimensions or more; empty
    for none."""
    for block in program.get("blocks", []):
        if block["idx"] == place[0] and 0 <= place[1] < len(block["ops"]):
            weights = {var["name"] for var in block["vars"] if var["parameter"] and len(var["shape"]) > 1}
            names = [name for names in block["ops"][place[1]]["inputs"].values() for name in names]
            return next((name for name in names if name in weights), "")
    return ""


def layer_at(places: Mapping[str, list[Place]], place: Place | None) -> str:
    """The layer that this operator is of; empty for none."""
    return next((layer for layer, all_of in places.items() if place in all_of), "")
