"""A Program as plain values: what the tree shows, whichever process holds the real one. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class VariableData:
    """A variable of a block; -1 in the shape stands for a size that is known only when it runs."""

    name: str
    shape: tuple[int, ...] = ()
    dtype: str = ""
    persistable: bool = False
    parameter: bool = False
    stop_gradient: bool = False


@dataclass(frozen=True)
class OperatorData:
    """An operator: slots with their variables' names, attributes as plain values, where it was written.

    `line` is 0 where nobody knows; `sub_blocks` are the indices of the blocks that it runs.
    """

    type: str
    inputs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    outputs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    attrs: Mapping[str, object] = field(default_factory=dict)
    file: str = ""
    line: int = 0
    sub_blocks: tuple[int, ...] = ()


@dataclass(frozen=True)
class BlockData:
    """A block; `parent` is the index of the block around it, -1 for the outermost one."""

    index: int
    operators: tuple[OperatorData, ...] = ()
    variables: tuple[VariableData, ...] = ()
    parent: int = -1


@dataclass(frozen=True)
class ProgramData:
    """A Program; the blocks stand in the order of their indices."""

    name: str = ""
    blocks: tuple[BlockData, ...] = ()


def shape_text(shape: tuple[int, ...]) -> str:
    """`[?, 6, 28, 28]`: a question mark for a size that is known only when it runs."""
    return "[" + ", ".join("?" if size < 0 else str(size) for size in shape) + "]"


def value_text(value: object) -> str:
    """An attribute for people: Python's way of writing it, long ones shortened in the middle."""
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 200 else f"{text[:150]} ... {text[-40:]}"
