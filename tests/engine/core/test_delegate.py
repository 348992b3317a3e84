"""Delegate: declared below, defined above, and a clear error where nothing defines it."""

from __future__ import annotations

import re

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


def test_an_undefined_one_says_what_to_import():
    @delegate("rooms.above")
    def double(x: int) -> int:
        raise NotImplementedError

    with pytest.raises(TypeError, match=r"double: nothing defines it yet; import rooms\.above"):
        double(3)


def test_another_module_cannot_define_it_again():
    @delegate("rooms.above")
    def double(x: int) -> int:
        raise NotImplementedError

    double.define(lambda x: 2 * x)
    with pytest.raises(TypeError, match=f"{re.escape(__name__)} defines it already: got .* from re"):
        double.define(re.escape)
