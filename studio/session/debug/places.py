"""Where an operator of a Program is: the chain of blocks around it, and the operators of lines and layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from studio.session.debug.breakpoints import Place


def place_in(program: Mapping[str, Any], block: int, operator: int) -> Place:
    """Pairs of block and operator, outermost first, of an operator of the Program."""
    owners = {
        region["block"]: (each["idx"], number)
        for each in program.get("blocks", [])
        for number, found in enumerate(each["ops"])
        for region in found["regions"]
    }
    chain = [(block, operator)]
    while chain[0][0] in owners and len(chain) <= len(owners):
        chain.insert(0, owners[chain[0][0]])
    return tuple(chain)


def operators_of(program: Mapping[str, Any], kind: str, what: Any) -> list[tuple[int, int]]:
    """Block and number of the operators of a ``layer`` (a path of calls), of a ``line`` (file and line), or
    of an ``operator`` (a type)."""
    found = []
    for block in program.get("blocks", []):
        for number, each in enumerate(block["ops"]):
            layer = str(each.get("layer") or "")
            if (
                (kind == "layer" and (layer == what or layer.startswith(f"{what}.")))
                or (kind == "line" and (each["file"], each["line"]) == what)
                or (kind == "operator" and each["type"] == what)
            ):
                found.append((block["idx"], number))
    return found
