"""fluid.initializer and fluid.ParamAttr: names, arguments and values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine
from engine import fluid
from engine.core.errors import DTypeError
from engine.fluid import initializer as initializers
from engine.nn import initializer as modern


def made(initializer: Any, shape: tuple[int, ...] = (40, 50)) -> Any:
    return engine.create_parameter(list(shape), "float32", default_initializer=initializer).numpy()


def test_every_short_name_is_the_long_one() -> None:
    for name in ("Constant", "Uniform", "Normal", "TruncatedNormal", "Xavier", "MSRA", "Bilinear"):
        assert getattr(initializers, name) is getattr(initializers, f"{name}Initializer")


@pytest.mark.parametrize(
    ("early", "late"),
    [
        (initializers.Constant(2.5, force_cpu=True), modern.Constant(2.5)),
        (initializers.Uniform(low=-0.5, high=0.25), modern.Uniform(-0.5, 0.25)),
        (initializers.Normal(loc=1.0, scale=0.1), modern.Normal(1.0, 0.1)),
        (initializers.TruncatedNormal(loc=1.0, scale=0.1), modern.TruncatedNormal(1.0, 0.1)),
        (initializers.Xavier(), modern.XavierUniform()),
        (initializers.Xavier(uniform=False, fan_in=3, fan_out=5), modern.XavierNormal(3, 5)),
        (initializers.MSRA(), modern.KaimingUniform()),
        (initializers.MSRA(uniform=False, fan_in=7), modern.KaimingNormal(7)),
    ],
)
def test_values_are_those_of_the_later_names(early: Any, late: Any) -> None:
    engine.seed(3)
    expected = made(late)
    engine.seed(3)
    np.testing.assert_array_equal(made(early), expected)


def test_a_seed_fixes_the_values_in_both_modes() -> None:
    first = made(initializers.Normal(0.0, 1.0, seed=11))
    made(initializers.Normal())
    np.testing.assert_array_equal(made(initializers.Normal(0.0, 1.0, seed=11)), first)
    assert np.any(made(initializers.Normal(0.0, 1.0, seed=12)) != first)
    engine.enable_static()
    try:
        main, startup = engine.static.Program(), engine.static.Program()
        with engine.static.program_guard(main, startup):
            w = engine.static.create_parameter(
                [40, 50], "float32", default_initializer=initializers.Normal(0.0, 1.0, seed=11)
            )
        (found,) = engine.static.Executor().run(startup, fetch_list=[w.name])
    finally:
        engine.disable_static()
    np.testing.assert_array_equal(found, first)


def test_an_array_gives_its_values() -> None:
    array = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(made(initializers.NumpyArrayInitializer(array), (2, 3)), array)
    with pytest.raises(DTypeError, match="list"):
        initializers.NumpyArrayInitializer([1.0])


def test_param_attr_takes_a_clip_or_the_averaging_in_sixth_place() -> None:
    clip = fluid.clip.GradientClipByValue(1.0)
    early = fluid.ParamAttr("w", None, 1.0, None, True, clip, False)
    assert (early.gradient_clip, early.do_model_average, early.need_clip) == (clip, False, True)
    late = fluid.ParamAttr("w", None, 1.0, None, True, False)
    assert (late.gradient_clip, late.do_model_average) == (None, False)
    assert fluid.param_attr.ParamAttr is fluid.ParamAttr
    with pytest.raises(DTypeError, match="gradient_clip"):
        fluid.ParamAttr("w", None, 1.0, None, True, "clip")
