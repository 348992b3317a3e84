"""Raw errors inside public functions: the sentence, its class, and what passes unchanged."""

from __future__ import annotations

import inspect
import pickle
import re
from typing import Any

import numpy as np
import pytest

import engine
from engine.core.errors import AllocationError, EngineError
from engine.nn import functional

X = engine.ones([2, 3])

WRONG = "has a wrong type or value: got"
NO_TENSOR = "must be a Tensor: got"
SENTENCES: list[tuple[Any, type[Exception], str]] = [
    (lambda: engine.allclose(X, X, rtol=len), TypeError, f"allclose: 'rtol' {WRONG} builtin_function"),
    (lambda: functional.celu(X, alpha=[1.5]), TypeError, f"celu: 'alpha' {WRONG} list [1.5]"),
    (lambda: engine.rank(1.5), AttributeError, f"rank: 'input' {NO_TENSOR} float; use to_tensor()"),
    (lambda: engine.rank("a"), ValueError, f"rank: 'input' {NO_TENSOR} str; use to_tensor()"),
    (lambda: functional.max_pool1d([[1.0]], 2), TypeError, f"max_pool1d: 'x' {NO_TENSOR} list"),
    (lambda: functional.pad(X, [1, 1], data_format=3), AttributeError, "pad: 'data_format' must be a string"),
    (lambda: engine.acos(X, np.arange(3)), ValueError, f"acos: 'name' {WRONG} ndarray int64[3]"),
    (lambda: engine.equal(X, X, np.arange(3)), ValueError, f"equal: 'name' {WRONG} ndarray int64[3]"),
    (lambda: engine.logical_or(X, X, None, np.arange(3)), ValueError, f"logical_or: 'name' {WRONG} ndarray"),
    (lambda: engine.gcd(X, X, np.arange(3)), ValueError, f"gcd: 'name' {WRONG} ndarray"),
    (lambda: engine.squeeze(X, [0], np.arange(3)), ValueError, f"squeeze: 'name' {WRONG} ndarray"),
    (lambda: engine.bincount(X, minlength="z"), ValueError, f"bincount: 'minlength' {WRONG} 'z'"),
    (lambda: engine.add_([1.5], X), TypeError, f"add_: 'x' {NO_TENSOR} list; use to_tensor()"),
    (lambda: functional.log_softmax([[X]]), ValueError, f"log_softmax: input 'x' {NO_TENSOR} list"),
    (lambda: engine.fft.fftfreq(1, d={}), TypeError, f"fftfreq: 'd' {WRONG} dict {{}}"),
    (lambda: engine.multigammaln(X, 10**30), ValueError, "multigammaln: p must be an integer, at least 1"),
    (lambda: engine.polygamma(X, 171), ValueError, "polygamma: n must be at least 0 and at most 170"),
    (lambda: engine.randint(0, 10**30), IndexError, "randint: low and high must fit int64: got 0 and 1000"),
]


@pytest.mark.parametrize(
    ("call", "kind", "sentence"),
    SENTENCES,
    ids=[row[2].split(":")[0] + str(n) for n, row in enumerate(SENTENCES)],
)
def test_a_wrong_argument_is_named(call: Any, kind: type[Exception], sentence: str) -> None:
    with pytest.raises(kind, match=re.escape(sentence)) as caught:
        call()
    assert isinstance(caught.value, EngineError)


def test_an_array_that_memory_does_not_hold_names_the_operator_and_the_size() -> None:
    sentence = r"fill_constant: not enough memory: Unable to .* \(1099511627776, 1048576\)"
    with pytest.raises(MemoryError, match=sentence) as caught:
        engine.zeros([2**40, 2**20], dtype="int8")
    assert isinstance(caught.value, AllocationError)


class Broken:
    """A tensor-like value of a user, whose code has an error of its own."""

    def __float__(self) -> float:
        raise ValueError("mine")


def test_an_error_in_a_function_of_the_user_passes_unchanged() -> None:
    with pytest.raises(ValueError, match=r"^mine$") as caught:
        functional.celu(X, alpha=Broken())
    assert not isinstance(caught.value, EngineError)


def test_a_call_without_an_argument_has_pythons_error() -> None:
    with pytest.raises(TypeError, match=r"rank.* missing 1 required positional argument: 'input'") as caught:
        engine.rank()
    assert not isinstance(caught.value, EngineError)


def test_a_function_that_explains_is_the_one_that_was_imported() -> None:
    assert pickle.loads(pickle.dumps(engine.rank)) is engine.rank
    assert list(inspect.signature(functional.pad).parameters)[:3] == ["x", "pad", "mode"]
    assert "def rank(" in inspect.getsource(engine.rank)


def test_more_differences_than_numbers_are_empty() -> None:
    assert engine.diff(X, n=10**30).shape == [2, 0]


def test_a_form_in_place_takes_its_tensor_by_name() -> None:
    x = engine.to_tensor([1.5])
    engine.trunc_(input=x)
    assert x.tolist() == [1.0]
    with pytest.raises(TypeError, match=r"trunc_\(\) missing 1 required positional argument: 'input'"):
        engine.trunc_()
