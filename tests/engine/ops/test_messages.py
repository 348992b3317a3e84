"""Messages of operators that do not fit: where, the problem, the values seen, the remedy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError, DTypeError, EngineError, OutOfRangeError, ShapeError
from engine.core.operators.opdef import OPS
from engine.core.values.spec import Spec
from engine.eager.tensor import Tensor


def _f(*shape: int) -> Any:
    return Tensor(np.zeros(shape, np.float32))


def _i(*values: int) -> Any:
    return Tensor(np.array(values))


MESSAGES: list[tuple[str, tuple[Any, ...], dict[str, Any], type[EngineError], str]] = [
    (
        "conv2d",
        (_f(64, 3, 28, 28), _f(6, 1, 5, 5)),
        {},
        ShapeError,
        "conv2d: x is float32[64, 3, 28, 28] and weight float32[6, 1, 5, 5], groups=1: x has 3 channels, but "
        "the filters take 1; make in_channels of the layer 3, or check data_format='NCHW'",
    ),
    (
        "conv2d",
        (_f(1, 1, 3, 3), _f(1, 1, 5, 5)),
        {},
        ShapeError,
        "height 3 with padding (0, 0) is 3, smaller than the filter's 5",
    ),
    ("conv2d", (_f(28, 28), _f(6, 1, 5, 5)), {}, ShapeError, "both need 4 dimensions, x NCHW"),
    (
        "conv2d",
        (_f(1, 4, 5, 5), _f(3, 2, 3, 3)),
        {"groups": 2},
        ShapeError,
        "3 filters do not divide into groups=2",
    ),
    ("conv2d", (_f(1, 1, 5, 5), _f(1, 1, 3, 3)), {"paddings": [1, 2, 3]}, ArgumentError, "got [1, 2, 3]"),
    (
        "conv2d",
        (_f(1, 1, 5, 5), _f(1, 1, 3, 3)),
        {"paddings": [-1, 0]},
        ArgumentError,
        "paddings must not be negative",
    ),
    ("conv2d", (_f(1, 1, 5, 5), _f(1, 1, 3, 3)), {"strides": [0, 1]}, ArgumentError, "strides [0, 1]"),
    (
        "conv2d",
        (_f(1, 1, 5, 5), _f(1, 1, 3, 3)),
        {"padding_algorithm": "FULL"},
        ArgumentError,
        "not one of EXPLICIT, SAME, VALID",
    ),
    (
        "conv2d",
        (_f(1, 5, 5, 1), _f(1, 1, 3, 3)),
        {"data_format": "CHWN"},
        ArgumentError,
        "is not NCHW or NHWC",
    ),
    (
        "conv2d",
        (_f(1, 1, 5, 5), Tensor(np.zeros((1, 1, 3, 3)))),
        {},
        DTypeError,
        "inputs have different dtypes",
    ),
    (
        "pool2d",
        (_f(1, 1, 3, 3),),
        {"ksize": [4, 4]},
        ShapeError,
        "height 3 with padding (0, 0) is smaller than the window's 4",
    ),
    ("pool2d", (_f(3, 3),), {"ksize": [2, 2]}, ShapeError, "x needs 4 dimensions, NCHW: got float32[3, 3]"),
    (
        "pool2d",
        (_f(1, 1, 3, 3),),
        {"ksize": [2, 2], "pooling_type": "min"},
        ArgumentError,
        "'min' is not one of max, avg",
    ),
    ("pool2d", (_f(1, 1, 3, 3),), {"ksize": [2, 0]}, ArgumentError, "ksize [2, 0]"),
    (
        "batch_norm",
        (_f(2, 3, 4, 4), _f(4), _f(4), _f(4), _f(4)),
        {},
        ShapeError,
        "batch_norm: x is float32[2, 3, 4, 4], NCHW, so scale needs shape [3]: got float32[4]",
    ),
    ("batch_norm", (_f(3), _f(3), _f(3), _f(3), _f(3)), {}, ShapeError, "samples, channels"),
    ("layer_norm", (_f(2, 3), _f(4), None), {}, ShapeError, "so scale needs shape [3]: got float32[4]"),
    ("matmul_v2", (_f(2, 3), _f(2, 3)), {}, ShapeError, "the inner dimensions are 3 and 2"),
    ("elementwise_add", (_f(2), _f(3)), {}, ShapeError, "shapes [2] and [3] do not broadcast"),
    (
        "reduce_sum",
        (_f(2),),
        {"axis": [1]},
        OutOfRangeError,
        "axis 1 is out of range for 1 dimensions; use -1 to 0",
    ),
    ("reduce_max", (_f(0, 3),), {"axis": [0]}, ShapeError, "max needs an element"),
    ("reshape2", (_f(2, 3),), {"shape": [4]}, ShapeError, "has 6 elements"),
    ("concat", ([_f(2, 3), _f(3, 2)],), {"axis": 0}, ShapeError, "they differ outside axis 0"),
    (
        "gather",
        (_f(3), _i(0, 3)),
        {},
        OutOfRangeError,
        "index 3 is out of range for axis 0 with 3 elements; use 0 to 2",
    ),
    (
        "one_hot_v2",
        (_i(0, 5),),
        {"depth": 4},
        OutOfRangeError,
        "class 5 is out of range for 4 classes; use 0 to 3",
    ),
    (
        "softmax_with_cross_entropy",
        (_f(2, 3), Tensor(np.array([[0], [3]]))),
        {},
        OutOfRangeError,
        "label 3 is not a class number: there are 3 classes",
    ),
    (
        "softmax_with_cross_entropy",
        (_f(2, 3), Tensor(np.array([0, 1]))),
        {},
        ShapeError,
        "label must have shape [2, 1]",
    ),
    ("tanh", (_i(1),), {}, DTypeError, "must be floating"),
    (
        "sigmoid",
        (_i(1),),
        {},
        DTypeError,
        "sigmoid: x must be floating: got int64[1]; cast it to float32 first",
    ),
    ("softmax", (_i(1),), {}, DTypeError, "must be floating"),
    ("reduce_mean", (_i(1),), {}, DTypeError, "must be floating"),
    ("top_k_v2", (_f(3),), {"k": 4}, ArgumentError, "k is 4: axis 0"),
    ("dropout", (_f(3),), {"dropout_prob": 1.5}, ArgumentError, "0 to 1: got 1.5"),
    ("getitem", (_f(3), []), {"index": (3,)}, OutOfRangeError, "index 3 is out of range for dimension 0"),
]


@pytest.mark.parametrize(
    ("op", "inputs", "attrs", "kind", "words"), MESSAGES, ids=lambda v: v if isinstance(v, str) else ""
)
def test_eager_and_inference_raise_the_same_message(
    op: str, inputs: tuple[Any, ...], attrs: dict[str, Any], kind: type[EngineError], words: str
) -> None:
    with pytest.raises(kind) as eager:
        OPS[op].namespace["__apply__"](*inputs, **attrs)
    assert words in str(eager.value)
    if kind is OutOfRangeError and op in ("gather", "one_hot_v2", "softmax_with_cross_entropy"):
        return  # depends on values

    def spec(value: Any) -> Any:
        if isinstance(value, list):
            return [spec(v) for v in value]
        return None if value is None else Spec(value.shape, value.dtype)

    with pytest.raises(kind) as inferred:
        OPS[op].infer_specs([spec(v) for v in inputs], OPS[op].with_defaults(attrs))
    assert words in str(inferred.value)


@pytest.mark.parametrize(
    ("kinds", "wrong"), [(("float32", "int64"), "ids"), (("int64", "float32"), "parents")]
)
def test_inference_of_gather_tree_requires_integers(kinds: tuple[str, str], wrong: str) -> None:
    """Eager calls compute with floating-point numbers too."""
    specs = [Spec((3, 2, 2), kind) for kind in kinds]
    with pytest.raises(DTypeError, match=f"gather_tree: {wrong} holds integers: got float32"):
        OPS["gather_tree"].infer_specs(specs, {})


def test_shapes_with_unknown_dimensions() -> None:
    infer = OPS["conv2d"].infer_specs
    attrs = OPS["conv2d"].with_defaults({"paddings": [2, 2], "strides": [1, 2]})
    (spec,) = infer([Spec([-1, 1, 28, -1], "float32"), Spec([6, 1, 5, 5], "float32")], attrs)
    assert spec.shape == (-1, 6, 28, -1)
    pool = OPS["pool2d"].with_defaults({"ksize": [2, 2], "strides": [2, 2]})
    assert OPS["pool2d"].infer_specs([Spec([-1, -1, 28, -1], "float32")], pool)[0].shape == (-1, -1, 14, -1)


def test_epsilon_of_batch_norm_is_limited_in_programs_only() -> None:
    parameters = [_f(3), _f(3), _f(3), _f(3)]
    OPS["batch_norm"].namespace["__apply__"](_f(2, 3), *parameters, epsilon=0.1)
    specs = [Spec((2, 3), "float32"), *[Spec((3,), "float32")] * 4]
    paddle.enable_static()
    try:
        with pytest.raises(ArgumentError, match=r"epsilon must be between 0 and 0.001: got 0.1"):
            OPS["batch_norm"].infer_specs(specs, OPS["batch_norm"].with_defaults({"epsilon": 0.1}))
    finally:
        paddle.disable_static()
