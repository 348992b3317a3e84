"""Calls of public functions with one huge integer end at once, with a result or an error of the engine."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import engine as paddle
from engine.core.errors import AllocationError, ArgumentError
from engine.nn import functional as F
from tests.robust.huge_calls import BASES, attempt, attempt_usual, calls, named, usual_calls
from tests.robust.limited_children import in_limited_children

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limits of processes are those of Linux")


def test_all_calls_of_the_table_with_huge_integers() -> None:
    values = (2**31, 2**40, -(10**30))
    answers: list[tuple[Any, dict[str, str]]] = [
        *in_limited_children(list(calls(values=values)), attempt),
        *in_limited_children(list(usual_calls(values[:2])), attempt_usual),
    ]
    found = [
        f"{call}: {answer['kind']} {answer['said'][:200]}"
        for call, answer in answers
        if answer["kind"].startswith(("not ours", "hang", "killed"))
    ]
    assert found == []


def test_every_base_is_a_sound_call() -> None:
    for name, given in BASES.items():
        named(name)(**{k: paddle.to_tensor(v) if hasattr(v, "dtype") else v for k, v in given.items()})


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("name", ["stride", "padding", "dilation"])
def test_an_integer_beyond_64_bits_names_function_and_argument(rank: int, name: str) -> None:
    for kind in ("conv{}d", "conv{}d_transpose"):
        function = kind.format(rank)
        x, weight = paddle.ones([1, 1, *[4] * rank]), paddle.ones([1, 1, *[2] * rank])
        with pytest.raises(ArgumentError, match=f"^{function}: {name} must be below 2\\*\\*63: got 1000"):
            getattr(F, function)(x, weight, **{name: 10**30})


def test_an_attribute_beyond_64_bits_is_refused_in_a_program() -> None:
    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program()):
            x = paddle.static.data("x", [2, 3])
            with pytest.raises(ArgumentError, match=r"repeat_times is .*which 64 bits do not hold"):
                paddle.tile(x, [1, 10**30])
    finally:
        paddle.disable_static()
    with pytest.raises(ArgumentError, match=r"repeat_times is .*which 64 bits do not hold"):
        paddle.tile(paddle.ones([2, 3]), [1, 10**30])


def test_a_result_that_memory_does_not_hold_is_refused_before_work() -> None:
    x, weight = paddle.ones([1, 1, 4, 4]), paddle.ones([1, 1, 2, 2])
    with pytest.raises(AllocationError, match="not enough memory"):
        F.conv2d(x, weight, padding=2**22)
    with pytest.raises(AllocationError, match="not enough memory: array is too big"):
        F.conv2d(x, weight, padding=2**40)
    with pytest.raises(AllocationError, match="not enough memory"):
        F.conv2d_transpose(x, weight, stride=2**22)


def test_a_stride_longer_than_the_image_has_no_effect() -> None:
    x, weight = paddle.rand([1, 2, 5, 5]), paddle.rand([2, 2, 3, 3])
    wanted = F.conv2d(x, weight, stride=9).numpy()
    assert (F.conv2d(x, weight, stride=2**62).numpy() == wanted).all()
