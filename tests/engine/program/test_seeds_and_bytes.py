"""Program.global_seed, and Programs as bytes by way of desc."""

from __future__ import annotations

import pytest

import engine as paddle
from engine import static
from engine.core.errors import ArgumentError


def test_the_seed_of_programs_to_come() -> None:
    before, main = static.Program(), static.Program()
    try:
        main.global_seed(102)
        assert (main.random_seed, static.Program().random_seed, before.random_seed) == (102, 102, 0)
        with pytest.raises(ArgumentError, match="must be an integer"):
            main.global_seed("a")  # type: ignore[arg-type]
    finally:
        main.global_seed(0)
    assert static.Program().random_seed == main.random_seed == 0


def test_there_and_back_as_bytes() -> None:
    main = static.Program()
    paddle.enable_static()
    try:
        with static.program_guard(main):
            x, y = static.data("X", [2, 3]), static.data("Y", [3, 4])
            paddle.matmul(x, y)
    finally:
        paddle.disable_static()
    again = static.Program.parse_from_string(main.desc.serialize_to_string())
    assert str(again) == str(main)
