"""Conversion of Programs that were saved before operators had regions (version 1) to version 2.

Version 1 stored the sub-blocks of control flow, and the names of their arguments and results, among the
attributes. Nothing is checked here: the result is checked like any file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

Plain = dict[str, Any]


def from_version_1(plain: Plain) -> Plain:
    """Convert ``plain`` of version 1 to version 2. Malformed input raises errors of any class."""
    blocks = plain["blocks"]
    return {**plain, "version": 2, "blocks": [_block(blocks, block) for block in blocks]}


def _block(blocks: list[Plain], block: Plain) -> Plain:
    return {**block, "ops": [_operator(blocks, block["idx"], o) for o in block["ops"]]}


def _operator(blocks: list[Plain], index: int, operator: Plain) -> Plain:
    made = {**operator, "regions": [], "kept": operator.get("key")}
    made.pop("key", None)
    rewrite = _CONTROL.get(operator["type"])
    if rewrite is not None:
        rewrite(blocks, index, made, operator["attrs"])
    return made


def _place(blocks: list[Plain], index: int, name: str) -> list[Any]:
    """The place of the Variable that a block knows by a name: in itself, in a parent, or borrowed."""
    start = index
    while 0 <= index < len(blocks):
        block = blocks[index]
        if any(v["name"] == name for v in block["vars"]):
            return [index, name]
        for place in block.get("borrowed", ()):
            if place[1] == name:
                return list(place)
        if not block["parent"] < index:
            break
        index = block["parent"]
    raise KeyError(f"block {start}: no variable {name!r}")


def _region(blocks: list[Plain], block: int, arguments: Iterable[str], results: Iterable[str]) -> Plain:
    return {
        "block": block,
        "arguments": [_place(blocks, block, name) for name in arguments],
        "results": [_place(blocks, block, name) for name in results],
    }


def _cond(blocks: list[Plain], index: int, made: Plain, attrs: Plain) -> None:
    made["attrs"] = {}
    made["regions"] = [
        _region(blocks, attrs[f"{side}_block"], (), attrs[f"{side}_results"]) for side in ("true", "false")
    ]


def _while(blocks: list[Plain], index: int, made: Plain, attrs: Plain) -> None:
    made["attrs"] = {}
    values = attrs["loop_names"]
    made["regions"] = [
        _region(blocks, attrs["cond_block"], values, [attrs["cond_result"]]),
        _region(blocks, attrs["body_block"], values, attrs["body_results"]),
    ]
    made["kept"] = _place(blocks, index, attrs["steps"]) if attrs["steps"] else None


def _while_grad(blocks: list[Plain], index: int, made: Plain, attrs: Plain) -> None:
    sums, values, grads = attrs["sums"]["attrs"], attrs["loop_names"], attrs["grad_names"]
    made["attrs"] = {"values": len(values)}
    taken, given = [*values, *sums["keys"], *grads], [*sums["grads"], *sums["captured"]]
    made["regions"] = [_region(blocks, attrs["body_block"], taken, given)]
    sources = list(attrs["carried"][len(grads) :])
    made["inputs"] = {**made["inputs"], "Source": sources, "StepScopes": [attrs["steps"]]}


_CONTROL: dict[str, Callable[[list[Plain], int, Plain, Plain], None]] = {
    "conditional_block": _cond,
    "while": _while,
    "while_grad": _while_grad,
}
