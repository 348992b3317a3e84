"""Frames: which belong to the engine, and the user's line in messages."""

from __future__ import annotations

import sys

import pytest

import engine
from engine.core.containers import nest
from engine.core.errors import ArgumentError, ConditionError
from engine.core.frames import is_internal, line_of, located, outside, user_frame
from engine.fluid import layers
from tests.engine.fresh_static import fresh_static


def test_files_of_the_engine_are_internal() -> None:
    assert is_internal(engine.__file__)
    assert is_internal("<apply relu>")
    assert not is_internal(__file__)


def test_the_users_frame_is_the_innermost_outside_the_engine() -> None:
    frame = user_frame()
    assert frame is sys._getframe()
    found = []

    class Leaf(dict):
        def values(self) -> list[object]:
            found.append(outside(sys._getframe().f_back))
            return []

    nest.flatten(Leaf())  # called by the engine
    assert found == [sys._getframe()]


def test_a_located_error_has_file_and_line_once() -> None:
    error = ConditionError("op: wrong")
    frame = sys._getframe()
    line = sys._getframe().f_lineno + 1
    made = located(error, frame)
    assert isinstance(made, ConditionError)
    assert str(made) == f"{__file__}:{line}: op: wrong"
    assert located(made, frame) is made
    assert located(error, None) is error
    assert not ArgumentError("another").located


def test_lines_of_code() -> None:
    def function() -> int:
        a = 1
        return a

    code = function.__code__
    lines = {line_of(code, offset) - code.co_firstlineno for offset in range(0, len(code.co_code), 2)}
    assert lines == {0, 1, 2}
    assert line_of(code, 10**6) == code.co_firstlineno


def test_a_with_statement_is_the_users_line_also_when_its_block_ends() -> None:
    with fresh_static():
        index, array = layers.fill_constant([1], "int64", 0), layers.create_array("float32")
        loop = layers.While(layers.less_than(index, index + 1))
        with pytest.raises(ArgumentError) as raised, loop.block():
            layers.array_write(layers.cast(index, "float32"), index, array)
    assert str(raised.value).startswith(f"{__file__}:")
