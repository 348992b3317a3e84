"""A Variable belongs to the Program that it was made in."""

import pytest

import engine as paddle
from engine import static
from engine.core.errors import ProgramError


def test_a_variable_of_another_program_is_refused_where_it_is_used():
    paddle.enable_static()
    try:
        with static.program_guard(static.Program(), static.Program()):
            x = static.data("x", [2])
        with static.program_guard(static.Program(), static.Program()):
            y = static.data("y", [2])
            words = r"test_other_program\.py:\d+: \w+: 'x' float32\[2\] is a Variable of another Program"
            with pytest.raises(ProgramError, match=words):
                x + y
            with pytest.raises(ProgramError, match="'x'"):
                paddle.concat([y, x])
    finally:
        paddle.disable_static()
