"""Layers of images: Programs with unknown sizes give the eager values; what does not fit is named in the
error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.core.errors import ArgumentError, OutOfRangeError, ShapeError
from engine.nn import functional as F
from engine.vision import ops

RANDOM = np.random.default_rng(0)


def values(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype("float32")


IMAGE, LINE, VOLUME = values(2, 4, 6, 5), values(2, 4, 7), values(1, 4, 4, 3, 5)
GRID, OFFSET = values(2, 3, 4, 2), values(2, 18, 4, 3)
# What is built, and what it is fed; all dimensions but the channels are unknown when it is built.
BUILT: dict[str, tuple[Callable[..., Any], list[np.ndarray]]] = {
    "conv1d": (nn.Conv1D(4, 6, 3, stride=2, padding=1), [LINE]),
    "conv1d same": (nn.Conv1D(4, 6, 3, padding="SAME"), [LINE]),
    "conv2d": (nn.Conv2D(4, 6, 3, padding=[1, 0, 2, 1]), [IMAGE]),
    "conv2d same": (nn.Conv2D(4, 6, 3, stride=2, padding="SAME"), [IMAGE]),
    "conv2d depthwise": (nn.Conv2D(4, 8, 3, groups=4), [IMAGE]),
    "conv2d reflected": (nn.Conv2D(4, 2, 3, padding=1, padding_mode="reflect"), [IMAGE]),
    "conv3d": (nn.Conv3D(4, 2, 2, padding=1), [VOLUME]),
    "conv1d_transpose": (nn.Conv1DTranspose(4, 2, 3, stride=2), [LINE]),
    "conv2d_transpose": (nn.Conv2DTranspose(4, 2, 3, stride=2, padding=1, output_padding=1), [IMAGE]),
    "conv2d_transpose same": (nn.Conv2DTranspose(4, 2, 3, stride=2, padding="SAME"), [IMAGE]),
    "conv3d_transpose": (nn.Conv3DTranspose(4, 2, 2, stride=2), [VOLUME]),
    "max_pool1d": (nn.MaxPool1D(2, return_mask=True), [LINE]),
    "max_pool2d": (nn.MaxPool2D(3, 2, padding=1, ceil_mode=True), [IMAGE]),
    "max_pool2d mask": (nn.MaxPool2D(2, return_mask=True), [IMAGE]),
    "max_pool3d": (nn.MaxPool3D(2), [VOLUME]),
    "avg_pool1d": (nn.AvgPool1D(3, 2, padding=1), [LINE]),
    "avg_pool2d": (nn.AvgPool2D(2, divisor_override=3), [IMAGE]),
    "avg_pool3d": (nn.AvgPool3D(2, padding=1, exclusive=False), [VOLUME]),
    "adaptive": (nn.AdaptiveAvgPool2D((2, 3)), [IMAGE]),
    "adaptive max": (nn.AdaptiveMaxPool2D(2, return_mask=True), [IMAGE]),
    "adaptive 1d": (nn.AdaptiveMaxPool1D(3), [LINE]),
    "adaptive 3d": (nn.AdaptiveAvgPool3D(2), [VOLUME]),
    "batch_norm": (nn.BatchNorm2D(4), [IMAGE]),
    "batch_norm 3d": (nn.BatchNorm3D(4), [VOLUME]),
    "group_norm": (nn.GroupNorm(2, 4), [IMAGE]),
    "instance_norm": (nn.InstanceNorm2D(4), [IMAGE]),
    "local_response_norm": (nn.LocalResponseNorm(3, alpha=0.1), [IMAGE]),
    "local_response_norm 1d": (lambda x: F.local_response_norm(x, 3, data_format="NCL"), [LINE]),
    "normalize": (lambda x: F.normalize(x, axis=1), [IMAGE]),
    "pad": (nn.Pad2D([1, 2, 0, 1], mode="replicate"), [IMAGE]),
    "pad 1d": (nn.Pad1D(2, mode="circular"), [LINE]),
    "pad 3d": (nn.Pad3D(1, mode="reflect"), [VOLUME]),
    "pad all": (lambda x: F.pad(x, [0, 0, 1, 0, 0, 2, 1, 1], value=2.0), [IMAGE]),
    "interpolate": (lambda x: F.interpolate(x, [7, 9], mode="bilinear"), [IMAGE]),
    "interpolate scaled": (lambda x: F.interpolate(x, scale_factor=1.5, mode="bicubic"), [IMAGE]),
    "interpolate like another": (lambda x: F.interpolate(x, [x.shape[2] * 2, x.shape[3]]), [IMAGE]),
    "interpolate to its own size": (lambda x: F.interpolate(F.max_pool2d(x, 2), x.shape[2:]), [IMAGE]),
    "pixel_shuffle": (nn.PixelShuffle(2), [IMAGE]),
    "channel_shuffle": (nn.ChannelShuffle(2), [IMAGE]),
    "unfold": (nn.Unfold(2, strides=2), [IMAGE]),
    "unfold and fold": (lambda x: F.fold(F.unfold(x, 2), [6, 5], 2), [IMAGE]),
    "grid_sample": (lambda x, grid: F.grid_sample(x, grid, padding_mode="border"), [IMAGE, GRID]),
    "deform_conv2d": (ops.DeformConv2D(4, 2, 3), [IMAGE, OFFSET]),
}


def as_list(found: Any) -> list[Any]:
    return list(found) if isinstance(found, (list, tuple)) else [found]


@pytest.mark.parametrize("name", BUILT)
def test_programs_of_unknown_sizes(name: str) -> None:
    """Values, and the gradients of the floating inputs, of a Program whose sizes are known when it runs."""
    function, arrays = BUILT[name]
    tensors = [paddle.to_tensor(a, stop_gradient=False) for a in arrays]
    eager = as_list(function(*tensors))
    (eager[0] * eager[0]).sum().backward()
    want = [e.numpy() for e in eager] + [t.grad.numpy() for t in tensors]

    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
            # Where nothing says how many there are, how many are meant can't be checked.
            shapes = [[None, a.shape[1], *[None] * (a.ndim - 2)] for a in arrays]
            if name == "grid_sample":
                shapes[1] = [None, None, None, 2]
            fed = [paddle.static.data(f"x{n}", s) for n, s in enumerate(shapes)]
            for variable in fed:
                variable.stop_gradient = False
            made = as_list(function(*fed))
            for variable, array in zip(made, want, strict=False):
                assert len(variable.shape) == array.ndim
                assert all(d in (-1, n) for d, n in zip(variable.shape, array.shape, strict=True))
            grads = paddle.static.gradients([(made[0] * made[0]).sum()], fed)
            executor = paddle.static.Executor()
            executor.run(paddle.static.default_startup_program())
            feed = {f"x{n}": a for n, a in enumerate(arrays)}
            got = executor.run(feed=feed, fetch_list=[*made, *grads])
    finally:
        paddle.disable_static()
    for a, b in zip(got, want, strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)


X = paddle.to_tensor(values(2, 3, 8, 8))
WRONG: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "channels": (
        lambda: nn.Conv2D(4, 6, 3)(X),
        ShapeError,
        r"Conv2D: x has shape \[2, 3, 8, 8\], NCHW, so 3 channels",
    ),
    "rank": (
        lambda: nn.Conv1D(3, 6, 3)(X),
        ShapeError,
        r"conv1d: x has shape \[2, 3, 8, 8\]: it needs 3 dimensions",
    ),
    "large filter": (
        lambda: F.conv2d(X, paddle.ones([1, 3, 9, 9])),
        ShapeError,
        "smaller than the filter's 9; use more padding",
    ),
    "groups": (
        lambda: nn.Conv3D(4, 6, 3, groups=4),
        ArgumentError,
        "out_channels=6 must divide into groups=4",
    ),
    "nothing left": (
        lambda: F.conv2d_transpose(X, paddle.ones([3, 1, 1, 1]), padding=4),
        ShapeError,
        "leaves 0; use less padding",
    ),
    "output_size": (
        lambda: F.conv2d_transpose(X, paddle.ones([3, 1, 2, 2]), stride=2, output_size=[18, 16]),
        ShapeError,
        r"output_size \[18, 16\]: height 8 .* gives 16 to 17",
    ),
    "small image": (
        lambda: F.max_pool2d(X, 9),
        ShapeError,
        "height 8 with padding .* is smaller than the window's 9",
    ),
    "window": (
        lambda: F.avg_pool3d(X, 2),
        ShapeError,
        r"avg_pool3d: x has shape \[2, 3, 8, 8\]: it needs 5 dimensions, NCDHW",
    ),
    "adaptive": (lambda: F.adaptive_avg_pool2d(X, 0), ArgumentError, "output_size must be 1 or more: got"),
    "unpooled": (
        lambda: F.max_unpool2d(X, (X * 0 + 999).astype("int32"), 2),
        OutOfRangeError,
        "index 999 is out of range for output_size",
    ),
    "features": (lambda: nn.BatchNorm2D(4)(X), ShapeError, "make num_features of the layer 3"),
    "group_norm": (lambda: nn.GroupNorm(2, 4)(X), ArgumentError, "3 channels do not divide into 2 groups"),
    "mirror": (
        lambda: F.pad(X, [8, 0, 0, 0], mode="reflect"),
        ShapeError,
        "a mirror image has at most 7 elements",
    ),
    "sizes": (lambda: F.interpolate(X, [0, 2]), ArgumentError, "integers, 1 or more"),
    "scale": (lambda: F.interpolate(X, scale_factor=0.1), ShapeError, r"the result would have size \[0, 0\]"),
    "pixels": (
        lambda: F.pixel_shuffle(X, 2),
        ShapeError,
        "3 channels are not a multiple of upscale_factor squared, 4",
    ),
    "windows": (lambda: F.unfold(X, 12), ShapeError, "smaller than the window's 12"),
    "folds": (
        lambda: F.fold(paddle.ones([1, 4, 3]), [3, 3], 2),
        ShapeError,
        "so 3 windows, but an image of .* has 2 x 2 = 4",
    ),
    "grid": (lambda: F.grid_sample(X, paddle.ones([1, 2, 2, 2])), ShapeError, "they need one batch size"),
    "frames": (lambda: F.temporal_shift(X, 3), ShapeError, "2 frames do not divide into seg_num=3"),
    "regions": (
        lambda: ops.roi_align(X, paddle.ones([3, 4]), paddle.to_tensor([1, 1], dtype="int32"), 2),
        ShapeError,
        r"boxes_num \[1, 1\] for 2 images adds up to 2: there are 3",
    ),
    "label": (
        lambda: ops.yolo_loss(
            paddle.ones([1, 8, 2, 2]),
            paddle.full([1, 1, 4], 0.4),
            paddle.to_tensor([[3]], dtype="int32"),
            [9, 9],
            [0],
            3,
            0.5,
            8,
        ),
        OutOfRangeError,
        "gt_label 3 is not a class of 3",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_invalid_image_arguments_are_refused(name: str) -> None:
    call, error, message = WRONG[name]
    with pytest.raises(error, match=message):
        call()


def test_empty_batches() -> None:
    x = paddle.zeros([0, 4, 6, 6])
    x.stop_gradient = False
    for layer, shape in (
        (nn.Conv2D(4, 2, 3), [0, 2, 4, 4]),
        (nn.Conv2D(4, 64, 3, padding=1), [0, 64, 6, 6]),
        (nn.Conv2DTranspose(4, 2, 3), [0, 2, 8, 8]),
        (nn.MaxPool2D(2), [0, 4, 3, 3]),
        (nn.AdaptiveAvgPool2D(4), [0, 4, 4, 4]),
        (nn.GroupNorm(2, 4), [0, 4, 6, 6]),
        (nn.Upsample(scale_factor=2, mode="bilinear"), [0, 4, 12, 12]),
        (nn.Pad2D(1, mode="reflect"), [0, 4, 8, 8]),
        (nn.PixelShuffle(2), [0, 1, 12, 12]),
    ):
        out = layer(x)
        assert out.shape == shape
        out.sum().backward()
        assert x.grad.shape == [0, 4, 6, 6]


def test_infinite_gradients_stay_where_the_maxima_are() -> None:
    x = paddle.to_tensor(values(1, 1, 4, 4), stop_gradient=False)
    for pooled in (F.max_pool2d(x, 2), F.max_pool2d(x, 3, stride=1), F.adaptive_max_pool2d(x, 3)):
        x.clear_grad()
        pooled.backward(paddle.full(pooled.shape, float("inf")))
        assert not np.isnan(x.grad.numpy()).any()


def test_sync_batch_norm_takes_the_place_of_batch_norm() -> None:
    net = nn.Sequential(nn.Conv2D(3, 4, 3), nn.BatchNorm2D(4), nn.Sequential(nn.BatchNorm2D(4), nn.ReLU()))
    made = nn.SyncBatchNorm.convert_sync_batchnorm(net)
    assert [type(layer).__name__ for layer in (made[1], made[2][0])] == ["SyncBatchNorm"] * 2
    assert made[1].weight is net[1].weight or made is net
    assert made(X).shape == [2, 4, 6, 6]


def test_depthwise_is_a_convolution_in_groups() -> None:
    x, weight = paddle.to_tensor(values(2, 3, 6, 5)), paddle.to_tensor(values(6, 1, 3, 2))
    parts = [F.conv2d(x[:, n : n + 1], weight[2 * n : 2 * n + 2], padding=1) for n in range(3)]
    together = F.conv2d(x, weight, padding=1, groups=3)
    np.testing.assert_allclose(together.numpy(), paddle.concat(parts, axis=1).numpy(), rtol=1e-5, atol=1e-6)
