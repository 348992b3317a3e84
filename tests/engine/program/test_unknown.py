"""Dimensions that are not known before running, computed with in the user's code."""

import math

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ConversionError
from engine.jit import to_static
from engine.static import InputSpec

VALUES = np.random.default_rng(3).standard_normal((3, 4)).astype("float32")


def depends(x):
    if x.shape[0] > 2:
        y = x * 2.0
    else:
        y = x * 3.0
    return y


def counted(x):
    y = x * 0.0
    for row in range(x.shape[0]):
        y = y + x * float(row + int(x.shape[0]))
    return y


FUNCTIONS = {
    "a loop": counted,
    "mean by hand": lambda x: x.sum() / x.shape[0],
    "number first": lambda x: 1.0 / x.shape[0] * x + x.shape[1],
    "two dimensions": lambda x: x * (x.shape[0] * x.shape[1] - 1),
    "number of elements": lambda x: x / x.numel() + x.size,
    "variance": lambda x: x.var() + x.std(axis=0).sum(),
    "standardised": lambda x: (x - x.mean(axis=0, keepdim=True)) / (x.std(axis=0, keepdim=True) + 0.1),
    "kept": lambda x: x.reshape([x.shape[0], -1]) * 2.0,
    "a branch": depends,
    "stretched both ways": lambda x: x.unsqueeze(0) + x.unsqueeze(1),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    ("shape", "rows"), [([None, None], 1), ([None, None], 3), ([None, 4], 1), ([None, 4], 3), ([3, None], 3)]
)
def test_it_is_the_real_number_that_counts(name, shape, rows):
    found = []
    for function in (FUNCTIONS[name], to_static(FUNCTIONS[name], input_spec=[InputSpec(shape)])):
        x = paddle.to_tensor(VALUES[:rows], stop_gradient=False)
        out = function(x)
        (out * out).sum().backward()
        found.append((out.numpy(), x.grad.numpy()))
    for eager, static in zip(*found, strict=True):
        np.testing.assert_allclose(static, eager, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: paddle.split(x, 2, axis=1)[1],
        lambda x: paddle.split(x, [1, -1], axis=1)[1],
        lambda x: paddle.split(x, [x.shape[1] - 1, 1], axis=1)[0],
        lambda x: paddle.unbind(x, axis=1)[-1],
    ],
)
def test_parts_of_a_dimension_that_is_not_known(function):
    x = paddle.to_tensor(np.arange(8, dtype="float32").reshape(2, 4), stop_gradient=False)
    found = []
    for each in (function, to_static(function, input_spec=[InputSpec([None, None])])):
        x.clear_grad()
        part = each(x)
        (part * part).sum().backward()
        found.append((part.tolist(), x.grad.tolist()))
    assert found[0] == found[1]


def test_parts_that_do_not_fit_fail_when_the_program_runs():
    function = to_static(lambda x: paddle.split(x, 3, axis=1), input_spec=[InputSpec([2, None])])
    with pytest.raises(AssertionError, match="dimension 1 does not divide into these parts"):
        function(paddle.ones([2, 4]))


def test_python_cannot_count_with_it():
    with pytest.raises(ConversionError, match="known only when the Program runs"):
        to_static(lambda x: x * math.sqrt(x.shape[0]), input_spec=[InputSpec([None])]).concrete_program  # noqa: B018


def test_it_is_written_and_compared_as_before():
    seen = []
    to_static(lambda x: (seen.append(x.shape), x)[1], input_spec=[InputSpec([None, 4])]).concrete_program  # noqa: B018
    (shape,) = seen
    assert shape == [-1, 4]
    assert str(shape) == "[-1, 4]"
    assert shape[0] < 0
