"""Checks a Program that came from the process of an untrusted model, before the page Graph shows it."""

from __future__ import annotations

from typing import Any


def checked_program(plain: object, where: str) -> dict[str, Any]:
    """The Program, if its blocks, variables and operators are as ``serialize.to_plain`` writes them.

    Raises:
        FormatError: they are not; or a block stands in two places or in itself, so that no tree shows it.
    """
    if isinstance(plain, dict) and _are(plain.get("blocks"), _is_block):
        blocks = plain["blocks"]
        inner = [(block["idx"], n) for block in blocks for op in block["ops"] for n in _inner(op)]
        numbered = all(block["idx"] == n for n, block in enumerate(blocks))
        parents = all(-1 <= block["parent"] < max(block["idx"], 0) for block in blocks)
        below = all(outer < n < len(blocks) for outer, n in inner)
        if blocks and numbered and parents and below and len({n for _, n in inner}) == len(inner):
            return plain
    from engine.core.errors import FormatError

    raise FormatError(
        f"{where}: its Program can't be shown: it is not as Model Studio writes it; get the model from a "
        "source that you trust"
    )


def _inner(operator: dict[str, Any]) -> list[int]:
    return [region["block"] for region in operator["regions"]]


def _are(value: object, sound: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, dict) and sound(each) for each in value)


def _is_block(block: dict[str, Any]) -> bool:
    return (
        type(block.get("idx")) is int
        and type(block.get("parent")) is int
        and _are(block.get("vars"), _is_variable)
        and _are(block.get("ops"), _is_operator)
    )


def _is_variable(variable: dict[str, Any]) -> bool:
    shape = variable.get("shape")
    return (
        all(isinstance(variable.get(name), str) for name in ("name", "dtype"))
        and isinstance(shape, list)
        and all(type(size) is int for size in shape)
        and all(
            isinstance(variable.get(name), bool) for name in ("persistable", "parameter", "stop_gradient")
        )
    )


def _is_operator(operator: dict[str, Any]) -> bool:
    return (
        isinstance(operator.get("type"), str)
        and all(_are_slots(operator.get(name)) for name in ("inputs", "outputs"))
        and isinstance(operator.get("attrs"), dict)
        and all(_is_attribute(value) for value in operator["attrs"].values())
        and isinstance(operator.get("file"), str | None)
        and (operator.get("line") is None or type(operator["line"]) is int)
        and _are(operator.get("regions"), lambda region: type(region.get("block")) is int)
    )


def _are_slots(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(names, list) and all(isinstance(name, str) for name in names) for names in value.values()
    )


def _is_attribute(value: object) -> bool:
    """A dict must be one that ``to_plain`` makes of a spec; other values are shown as text."""
    if not isinstance(value, dict) or "dtype" in value or "spec" not in value:
        return True
    spec = value["spec"]
    return (
        isinstance(spec, list)
        and len(spec) == 2
        and isinstance(spec[0], list)
        and all(type(size) is int for size in spec[0])
    )
