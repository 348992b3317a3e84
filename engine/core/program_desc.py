"""Paddle's ProgramDesc as plain values: what its ``.pdmodel`` holds, before it is a Program and after.

It stands in the core, since the files and the Programs, which do not import each other's rooms, both use it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from engine.core.values.var_type import VarType


class AttrType(IntEnum):
    """The types of attributes."""

    INT = 0
    FLOAT = 1
    STRING = 2
    INTS = 3
    FLOATS = 4
    STRINGS = 5
    BOOLEAN = 6
    BOOLEANS = 7
    BLOCK = 8
    LONG = 9
    BLOCKS = 10
    LONGS = 11
    FLOAT64S = 12
    VAR = 13
    VARS = 14
    FLOAT64 = 15
    SCALAR = 16
    SCALARS = 17


@dataclass(frozen=True, slots=True)
class Attr:
    """An attribute. The value of a block is its index, that of a SCALAR a bool, int, float or complex."""

    type: AttrType
    value: Any


@dataclass(slots=True)
class VarDesc:
    """A Variable. ``kind`` is a number of ``VarType``; ``dtype`` is that of its data type and ``shape`` its
    dimensions, -1 for unknown ones: both are None for kinds that hold no tensors."""

    name: str
    kind: int = VarType.LOD_TENSOR.value
    dtype: int | None = None
    shape: list[int] | None = None
    lod_level: int = 0
    persistable: bool = False
    need_check_feed: bool = False
    is_parameter: bool = False
    stop_gradient: bool = False


@dataclass(slots=True)
class OpDesc:
    """An operator: names of Variables by slot, and attributes by name."""

    type: str
    inputs: dict[str, list[str]] = field(default_factory=dict)
    outputs: dict[str, list[str]] = field(default_factory=dict)
    attrs: dict[str, Attr] = field(default_factory=dict)


@dataclass(slots=True)
class BlockDesc:
    """A block; ``parent`` is the index of the one around it, -1 for the first."""

    idx: int
    parent: int
    vars: list[VarDesc] = field(default_factory=list)
    ops: list[OpDesc] = field(default_factory=list)
    forward: int = -1


@dataclass(slots=True)
class ProgramDesc:
    """A Program; ``op_versions`` may be empty. The version of 2.6.2 is 2006002."""

    blocks: list[BlockDesc]
    version: int = 2006002
    op_versions: dict[str, int] = field(default_factory=dict)


def weight_names(program: ProgramDesc) -> list[str]:
    """The names of the weights, in the order in which Paddle stores them."""
    tensor = VarType.LOD_TENSOR.value
    return sorted(v.name for v in program.blocks[0].vars if v.persistable and v.kind == tensor)
