"""Checks of the size of an untrusted Program, before anything is built from it.

Reading a Program takes time in proportion to its file with one exception: blocks see the Variables of all
blocks around them. So a Program has limits in numbers, far above those of networks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

MOST_BLOCKS = 10_000
MOST_OPERATORS = 200_000
MOST_VARIABLES = 400_000
# Visible parts of other blocks: the sum over all blocks of the Variables and operators around them.
MOST_SEEN = 10_000_000
LONGEST_NAME = 1_000
LONGEST_TEXT = 10_000
# Numbers in a list among the attributes, but for constants and attributes of long lists of inputs.
LONGEST_LIST = 1_024
DEEPEST_ATTRIBUTE = 16
_LONG_LISTS = frozenset(
    ("values", "sections", "targets", "given", "outputs", "inputs", "layout", "names", "places", "keep")
)


def size_faults(plain: object) -> Iterator[str]:
    """Faults of size. Values of unexpected types are ignored: reading them fails later."""
    blocks = _list(_get(plain, "blocks"))
    variables = [len(_list(_get(b, "vars"))) for b in blocks]
    operators = [len(_list(_get(b, "ops"))) for b in blocks]
    for what, count, most in (
        ("blocks", len(blocks), MOST_BLOCKS),
        ("operators", sum(operators), MOST_OPERATORS),
        ("variables", sum(variables), MOST_VARIABLES),
        ("inputs", len(_list(_get(plain, "inputs"))), MOST_VARIABLES),
        ("outputs", len(_list(_get(plain, "outputs"))), MOST_VARIABLES),
        (
            "variables and operators that its blocks see",
            len(blocks) * (sum(variables) + sum(operators)),
            MOST_SEEN,
        ),
    ):
        if count > most and not (what.endswith("see") and len(blocks) < 2):
            yield f"it has {count} {what}; {most} is the most"
            return
    for number, block in enumerate(blocks):
        for variable in _list(_get(block, "vars")):
            name = _get(variable, "name")
            if isinstance(name, str) and len(name) > LONGEST_NAME:
                yield f"block {number}: the name {name[:40]!r}... has over {LONGEST_NAME} letters"
            elif len(_list(_get(variable, "shape"))) > LONGEST_LIST:
                yield f"block {number}: variable {name!r} has {len(variable['shape'])} dimensions"
        for place, operator in enumerate(_list(_get(block, "ops"))):
            attrs = _get(operator, "attrs")
            for name, value in attrs.items() if isinstance(attrs, dict) else ():
                for fault in _attribute_faults(name, value, 0):
                    yield f"block {number}, operator {place} ({str(_get(operator, 'type'))[:40]}): {fault}"


def _attribute_faults(name: Any, value: Any, depth: int) -> Iterator[str]:
    if depth > DEEPEST_ATTRIBUTE:
        yield f"{str(name)[:40]} is nested more than {DEEPEST_ATTRIBUTE} deep"
    elif isinstance(value, str) and len(value) > LONGEST_TEXT:
        yield f"{str(name)[:40]} has {len(value)} characters; {LONGEST_TEXT} is the most"
    elif isinstance(value, int) and value.bit_length() > 64:
        yield f"{str(name)[:40]} is a number of {value.bit_length()} bits; 64 is the most"
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _attribute_faults(key, each, depth + 1)
    elif isinstance(value, (list, tuple)):
        if len(value) > LONGEST_LIST and name not in _LONG_LISTS:
            yield f"{str(name)[:40]} is a list of {len(value)}; {LONGEST_LIST} is the most"
            return
        for each in value:
            if isinstance(each, (dict, list, tuple, str)) or (
                isinstance(each, int) and each.bit_length() > 64
            ):
                yield from _attribute_faults(name, each, depth + 1)


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
