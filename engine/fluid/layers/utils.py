"""``fluid.layers.utils``: nested structures."""

from __future__ import annotations

from typing import Any

from engine.utils.layers_utils import assert_same_structure, convert_to_list
from engine.utils.nested import flatten, map_structure, pack_sequence_as

__all__ = [
    "assert_same_structure",
    "convert_to_list",
    "flatten",
    "is_sequence",
    "map_structure",
    "pack_sequence_as",
]


def is_sequence(seq: Any) -> bool:
    """Whether ``seq`` is a list, a tuple or a dict, and so has parts."""
    return isinstance(seq, (list, tuple, dict))
