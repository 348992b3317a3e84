"""What converted code calls, under the name `_jst`."""

from __future__ import annotations

from engine.jit.convert.builtin_forms import convert_assert
from engine.jit.convert.runtime_calls import call
from engine.jit.convert.runtime_control import (
    compare_chain,
    convert_for,
    convert_ifelse,
    convert_ifexp,
    convert_while_loop,
    logical_and,
    logical_not,
    logical_or,
    until,
)
from engine.jit.convert.runtime_items import item, put
from engine.jit.convert.runtime_state import NO_VALUE, Undefined, read

__all__ = [
    "NO_VALUE",
    "Undefined",
    "call",
    "compare_chain",
    "convert_assert",
    "convert_for",
    "convert_ifelse",
    "convert_ifexp",
    "convert_while_loop",
    "item",
    "logical_and",
    "logical_not",
    "logical_or",
    "put",
    "read",
    "until",
]
