"""The conversion asked for piece by piece, by Paddle's older path."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError
from engine.jit import to_static
from engine.jit.dy2static.program_translator import ProgramCache, ProgramTranslator, StaticFunction
from engine.static import InputSpec


@pytest.fixture
def translator() -> Any:
    yield ProgramTranslator()
    ProgramTranslator.reset()


def branch(x: Any) -> Any:
    if x.sum() > 0:
        return x * 2
    return -x


def test_there_is_one(translator: ProgramTranslator) -> None:
    assert ProgramTranslator() is translator
    assert ProgramTranslator.get_instance() is translator


def test_its_pieces(translator: ProgramTranslator) -> None:
    x = paddle.ones([2])
    np.testing.assert_array_equal(translator.get_output(branch, x).numpy(), [2, 2])
    assert "_jst.convert_ifelse" in translator.get_code(branch)
    main, startup, inputs, outputs = translator.get_program(branch, paddle.ones([4]))
    assert [v.name for v in inputs] == ["x"]
    assert tuple(outputs[0].shape) == (4,)
    assert main.num_blocks == 3
    assert not startup.global_block().ops
    assert len(translator.get_program_cache()) == 2
    np.testing.assert_array_equal(translator.get_func(branch)(np.ones(2)), [2, 2])


def test_switched_off(translator: ProgramTranslator) -> None:
    translator.enable(False)
    assert not translator.enable_to_static
    seen = []

    def eager(x: Any) -> Any:
        seen.append(x.numpy())
        return x

    translator.get_output(eager, paddle.ones([1]))
    to_static(eager)(paddle.ones([1]))
    assert len(seen) == 2
    assert translator.get_func(eager) is eager
    with pytest.raises(ArgumentError, match="takes True or False: got 1"):
        translator.enable(1)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="get_code: takes a function: got int"):
        translator.get_code(3)  # type: ignore[arg-type]


def test_the_cache_of_a_function() -> None:
    static = to_static(branch)
    assert isinstance(static, StaticFunction)
    assert isinstance(static.program_cache, ProgramCache)
    with pytest.raises(IndexError, match="no Program was built yet"):
        static.program_cache.last()
    static(paddle.ones([2]))
    static(paddle.ones([3]))
    static(paddle.ones([3]))
    assert len(static.program_cache) == 2
    assert static.program_cache.last()[1][0] is static.program_cache[1]
    concrete, runner = static.get_concrete_program(InputSpec([None, 5], "float32"))
    assert concrete.runner is runner
    assert tuple(concrete.inputs[0].shape) == (-1, 5)
    static.program_cache.clear()
    assert list(static.program_cache) == []
