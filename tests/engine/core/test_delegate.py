"""Delegate: declared below, defined above, and a clear error where nothing defines it."""

from __future__ import annotations

import re
import sys
import types

import pytest

from engine.core.delegate import delegate


def test_calls_go_to_the_function_that_defines_it():
    @delegate("rooms.above")
    def double(x: int) -> int:
        """Twice x."""
        raise NotImplementedError

    @double.define
    def computed(x: int) -> int:
        return 2 * x

    assert (double(3), computed(3), double.__doc__) == (6, 6, "Twice x.")


def test_the_room_above_is_imported_at_the_first_call(tmp_path, monkeypatch):
    @delegate("room_above_for_a_test")
    def double(x: int) -> int:
        raise NotImplementedError

    sys.modules["room_below_for_a_test"] = room = types.ModuleType("room_below_for_a_test")
    monkeypatch.syspath_prepend(tmp_path)
    room.double = double
    above = "from room_below_for_a_test import double\ndouble.define(lambda x: 2 * x)\n"
    (tmp_path / "room_above_for_a_test.py").write_text(above)
    try:
        assert double(3) == 6
    finally:
        del sys.modules["room_below_for_a_test"], sys.modules["room_above_for_a_test"]


def test_a_name_that_no_module_defines_is_an_error():
    @delegate("engine.core.errors")
    def double(x: int) -> int:
        raise NotImplementedError

    with pytest.raises(TypeError, match=r"double: nothing defines it; engine\.core\.errors should"):
        double(3)


def test_another_module_cannot_define_it_again():
    @delegate("rooms.above")
    def double(x: int) -> int:
        raise NotImplementedError

    double.define(lambda x: 2 * x)
    with pytest.raises(TypeError, match=f"{re.escape(__name__)} defines it already: got .* from re"):
        double.define(re.escape)
