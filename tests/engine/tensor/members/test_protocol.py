"""A Tensor as a Python object: numbers, NumPy, copies, other processes, storage, devices."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError, DTypeError, OutOfRangeError, ShapeError


def _leaf(values: Any) -> Any:
    return paddle.to_tensor(values, stop_gradient=False)


def test_numbers() -> None:
    x = paddle.to_tensor([[2.5]])
    assert (float(x), int(x), bool(x), complex(x)) == (2.5, 2, True, 2.5 + 0j)
    assert complex(paddle.to_tensor(1 + 2j)) == 1 + 2j
    assert f"{x:.3f} {paddle.to_tensor(7):04d} {paddle.to_tensor([1])}".startswith("2.500 0007 Tensor(")
    assert [10, 20, 30][paddle.to_tensor(1)] == 20
    assert list(range(paddle.to_tensor([3]))) == [0, 1, 2]
    assert 2 in paddle.to_tensor([1, 2])
    assert {x: "kept"}[x] == "kept"


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: bool(x), ArgumentError, r"truth value of a Tensor of shape \[2\]"),
        (lambda x: float(x), ArgumentError, r"one element .* \[2\]"),
        (lambda x: f"{x:.2f}", DTypeError, "'.2f' fits one number"),
        (lambda x: [1, 2][x[0]], DTypeError, "float32; cast it to int64"),
        (lambda x: len(x[0]), DTypeError, "0-D"),
        (lambda x: list(x[0]), DTypeError, "0-D"),
        (lambda x: x.item(5), OutOfRangeError, r"\[5\] is outside of shape \[2\]"),
        (lambda x: x + None, DTypeError, "NoneType"),
        (lambda x: x == None, DTypeError, "`is None`"),  # noqa: E711
        (lambda x: x * "a", DTypeError, "str"),
        (lambda x: x.to(), DTypeError, "takes a device"),
        (lambda x: x.to(foo=1), DTypeError, "foo"),
        (lambda x: x.set_value(np.zeros(3, "float32")), ShapeError, r"\[3\]"),
        (lambda x: x.set_value(np.zeros(2)), DTypeError, "float64"),
        (lambda x: setattr(x, "data", 3), DTypeError, "takes a Tensor"),
        (lambda x: np.asarray(x, dtype="float64", copy=False), ValueError, "needs a copy"),
    ],
)
def test_unsupported_calls_are_refused(call: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        call(paddle.to_tensor([1.0, 2.0]))


def test_texts_are_unequal() -> None:
    x = paddle.to_tensor([1.0])
    assert (x == "a") is False
    assert (x != "a") is True


def test_arrays_of_numpy() -> None:
    x = paddle.to_tensor([1.0, 2.0])
    for made in (np.float32(2) * x, np.array([2.0, 2.0], "float32") * x, x * np.float64(2), 2 * x):
        assert isinstance(made, paddle.Tensor)
        assert made.dtype is paddle.float32
        assert made.tolist() == [2.0, 4.0]
    assert (np.eye(2, dtype="float32") @ x).tolist() == [1.0, 2.0]
    copied = np.array(x)
    copied[0] = 9.0
    assert x.tolist() == [1.0, 2.0]
    look = np.asarray(x, copy=False)
    assert np.shares_memory(look, x._array)
    assert not look.flags.writeable
    assert np.asarray(x, dtype="int64").tolist() == [1, 2]
    assert np.concatenate([x, x]).tolist() == [1.0, 2.0, 1.0, 2.0]


def test_copies() -> None:
    x = _leaf([1.0, 2.0])
    shared, own = copy.copy(x), copy.deepcopy(x)
    x.set_value([3.0, 4.0])
    assert shared.tolist() == [3.0, 4.0]
    assert shared.inplace_version == x.inplace_version == 1
    assert own.tolist() == [1.0, 2.0]
    (shared * 2).sum().backward()  # a copy is at the same place of the graph
    assert x.grad.tolist() == [2.0, 2.0]
    assert own.grad is None
    memo: dict[int, Any] = {}
    assert copy.deepcopy([x, x], memo)[0] is copy.deepcopy(x, memo)
    weight = copy.copy(paddle.nn.Linear(2, 2).weight)
    assert weight.trainable
    assert weight.optimize_attr == {"learning_rate": 1.0}


def _doubled(x: Any, pipe: Any) -> None:
    pipe.send(x * 2)


def test_between_processes() -> None:
    x = _leaf([1.0, 2.0])
    x.name, x.persistable = "mine", True
    back = pickle.loads(pickle.dumps(x))
    assert (back.name, back.persistable, back.stop_gradient) == ("mine", True, False)
    assert back.tolist() == [1.0, 2.0]
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    child = context.Process(target=_doubled, args=(x.detach(), there))
    child.start()
    assert here.recv().tolist() == [2.0, 4.0]
    child.join(30)
    assert child.exitcode == 0


def test_storage() -> None:
    x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    y = x.transpose([1, 0])
    assert (x.strides, y.get_strides(), x.offset, x.layout) == ([2, 1], [1, 2], 0, "NCHW")
    assert (x.is_contiguous(), y.is_contiguous(), y.contiguous().is_contiguous()) == (True, False, True)
    assert (x.element_size(), x.size, x.ndim, x.dim()) == (4, 4, 2, 2)
    assert y.data_ptr() == x.data_ptr()
    x.get_tensor().set(np.zeros((2, 2), "float32"), paddle.CPUPlace())
    assert x.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert np.array(x.value().get_tensor()).tolist() == x.tolist()
    x.copy_(paddle.full([2, 2], 7), True)
    assert x.dtype is paddle.float32
    assert x.tolist() == [[7.0, 7.0], [7.0, 7.0]]
    x.data = paddle.ones([3])
    assert x.tolist() == [1.0, 1.0, 1.0]
    assert x.is_dense()
    assert not x.is_sparse()
    assert x.is_same_shape(paddle.zeros([3]))
    assert str(x.type) == "VarType.LOD_TENSOR"
    assert x._md5sum() == paddle.ones([3])._md5sum() != paddle.zeros([3])._md5sum()


def test_to_makes_another_tensor_through_which_gradients_flow() -> None:
    x = _leaf([1.0, 2.0])
    y = x.to("cpu", "float64", True)
    assert (x.dtype, y.dtype) == (paddle.float32, paddle.float64)
    (y * y).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
    assert x.to(paddle.to_tensor([1])).dtype is paddle.int64
    assert x.cpu() is x
    assert x.pin_memory() is x
    assert x.to(device=paddle.CPUPlace(), dtype="int32").tolist() == [1, 2]


def test_reading_a_part_before_the_shape_changes_in_place() -> None:
    x = _leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    y = x * 2
    part, row = y[0], paddle.gather(y, paddle.to_tensor([1]))
    y.reshape_([3, 2])
    (part.sum() + 3 * row.sum() + y[0, 0]).backward()
    assert x.grad.tolist() == [[4.0, 2.0, 2.0], [6.0, 6.0, 6.0]]


def test_bfloat16_is_named() -> None:
    assert paddle.bfloat16 == "bfloat16"
    assert paddle.bfloat16.is_floating_point
    assert pickle.loads(pickle.dumps(paddle.bfloat16)) is paddle.bfloat16
    assert paddle.finfo("bfloat16").eps == 2.0**-7


def test_limits() -> None:
    info = paddle.finfo(paddle.float16)
    assert (info.max, info.eps, info.bits, info.dtype) == (65504.0, 2.0**-10, 16, "float16")
    assert paddle.iinfo("int8").min == -128
    with pytest.raises(ArgumentError, match="use iinfo"):
        paddle.finfo("int32")
    with pytest.raises(ArgumentError, match="use finfo"):
        paddle.iinfo("float32")
