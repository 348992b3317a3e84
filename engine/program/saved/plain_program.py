"""Types of the plain form of a Program: dictionaries, lists, strings and numbers."""

from __future__ import annotations

from typing import Any, NotRequired, TypeAlias, TypedDict

Reference: TypeAlias = list[int | str]
"""A Variable as the index of its block and its name."""


class PlainRegion(TypedDict):
    """A region of an operator: the index of its block, and its arguments and results."""

    block: int
    arguments: list[Reference]
    results: list[Reference]


class PlainVariable(TypedDict):
    """A Variable; ``says`` holds the values that its text shows instead: stop_gradient, name, type, and spec
    or None."""

    name: str
    shape: list[int]
    dtype: str
    persistable: bool
    stop_gradient: bool
    parameter: bool
    says: NotRequired[list[Any]]
    data: bool


class PlainOperator(TypedDict):
    """An operator; inputs and outputs are names of Variables by Paddle's slot.

    ``file`` and ``line`` are the user's, ``layer`` is the path of the Layer's call that made it. ``kept`` is
    the Variable that stores the state for a replay, ``replay`` marks a replayed operator, ``taken`` is the
    ``kept`` of its first run. ``notes`` holds data for the text only.
    """

    type: str
    inputs: dict[str, list[str]]
    outputs: dict[str, list[str]]
    attrs: dict[str, Any]
    regions: NotRequired[list[PlainRegion]]
    notes: NotRequired[dict[str, Any]]
    file: NotRequired[str | None]
    line: NotRequired[int | None]
    layer: NotRequired[str]
    kept: NotRequired[Reference | None]
    taken: NotRequired[Reference | None]
    replay: NotRequired[bool]


class PlainBlock(TypedDict):
    """A block; ``parent`` is the index of the block around it, -1 for the first."""

    idx: int
    parent: int
    vars: list[PlainVariable]
    ops: list[PlainOperator]


class PlainProgram(TypedDict):
    """A Program; ``methods`` are further Programs of a saved Layer, by name.

    ``foreign`` is set if a part of it is from another installation: it stays set when it is saved again.
    """

    version: int
    inputs: list[str]
    outputs: list[str]
    blocks: list[PlainBlock]
    foreign: NotRequired[bool]
    methods: NotRequired[dict[str, PlainProgram]]
