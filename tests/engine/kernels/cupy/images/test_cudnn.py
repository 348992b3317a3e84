"""Convolutions through cuDNN's front end: the calls, on a stand-in that checks and computes."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from engine.core.operators.opdef import OPS
from tests.cupy_stand_in.counts import counted
from tests.cupy_stand_in.cudnn import cudnn_installed
from tests.cupy_stand_in.module import gpu, installed

pytestmark = pytest.mark.skipif(gpu(), reason="with a GPU the other tests call the real cuDNN")
F32 = ("NONDETERMINISTIC", "REDUCED_PRECISION_REDUCTION", "TENSOR_CORE", "DOWN_CONVERT_INPUTS")


@pytest.fixture(scope="module")
def cupy() -> Iterator[Any]:
    with installed() as top:
        importlib.import_module("engine.kernels.cupy")
        yield top


@pytest.fixture
def cudnn(cupy: Any) -> Iterator[Any]:
    with cudnn_installed() as module:
        _forget()
        yield module
    _forget()


def _forget() -> None:
    from engine.kernels.cupy.images import cudnn

    for cached in (cudnn.front_end, cudnn._handle, cudnn._plan):
        cached.cache_clear()


def _numbers(seed: int, *shape: int, dtype: Any = np.float32) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def _compare(cupy: Any, name: str, x: Any, weight: Any, near: float = 1e-5, **attrs: Any) -> None:
    """The operator and its gradients against NumPy's kernels."""
    wide = [a.astype(np.float32) for a in (x, weight)]
    want = OPS[name].kernel(np, *wide, **attrs)
    flow = _numbers(9, *want.shape, dtype=x.dtype)
    grads = OPS[f"{name}_grad"].kernel(np, *wide, flow.astype(np.float32), **attrs)
    moved = [cupy.asarray(a) for a in (x, weight)]
    got = OPS[name].kernel_for("cupy")[0](cupy, *moved, **attrs)
    back = OPS[f"{name}_grad"].kernel_for("cupy")[0](cupy, *moved, cupy.asarray(flow), **attrs)
    for a, b in zip([got, *back], [want, *grads], strict=True):
        assert a.dtype == x.dtype
        np.testing.assert_allclose(a.get(), b, rtol=near, atol=near * max(1, abs(b).max()))


CASES: dict[str, tuple[Any, ...]] = {
    "padded, strides": ("conv2d", (2, 4, 7, 6), (6, 4, 3, 2), {"paddings": [1, 2], "strides": [2, 1]}),
    "a row that no window reaches": ("conv2d", (1, 2, 8, 8), (3, 2, 3, 3), {"strides": [2, 2]}),
    "four pads, dilations": (
        "conv2d",
        (1, 2, 9, 8),
        (3, 2, 2, 3),
        {"paddings": [0, 2, 1, 0], "dilations": [2, 1]},
    ),
    "same": ("conv2d", (1, 2, 7, 5), (4, 2, 3, 2), {"padding_algorithm": "SAME", "strides": [2, 2]}),
    "groups": ("conv2d", (2, 4, 5, 5), (6, 2, 3, 3), {"groups": 2}),
    "depthwise": ("depthwise_conv2d", (2, 4, 5, 5), (8, 1, 3, 3), {"groups": 4, "paddings": [1, 1]}),
    "volumes": ("conv3d", (1, 2, 4, 5, 3), (3, 2, 2, 3, 1), {"strides": [1, 2, 1]}),
    "transposed": ("conv2d_transpose", (2, 3, 4, 3), (3, 4, 3, 2), {"strides": [2, 3], "paddings": [1, 0]}),
    "channels last": ("conv2d", (2, 6, 5, 4), (3, 4, 3, 2), {"data_format": "NHWC", "paddings": [1, 0]}),
}


@pytest.mark.parametrize("case", CASES)
def test_results_and_gradients_are_those_of_numpy(cupy: Any, cudnn: Any, case: str) -> None:
    name, shape, filters, attrs = CASES[case]
    _compare(cupy, name, _numbers(1, *shape), _numbers(2, *filters), **attrs)
    first = "dgrad" if "transpose" in name else "fprop"
    assert [kind for kind, _ in cudnn.calls] == [first, "fprop" if first == "dgrad" else "dgrad", "wgrad"]


def test_half_precision_and_memory_that_is_not_contiguous(cupy: Any, cudnn: Any) -> None:
    x, weight = _numbers(1, 2, 4, 6, 5), _numbers(2, 4, 4, 3, 3)
    _compare(cupy, "conv2d", x.astype(np.float16), weight.astype(np.float16), 2e-3)
    assert all("TENSOR_CORE" not in notes and "NONDETERMINISTIC" in notes for _, notes in cudnn.calls)
    moved = cupy.asarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)[:, :, 1:]
    got = OPS["conv2d"].kernel_for("cupy")[0](cupy, moved, cupy.asarray(weight))
    np.testing.assert_allclose(got.get(), OPS["conv2d"].kernel(np, x[:, :, 1:], weight), 1e-5, 1e-5)
    bits = lambda a: (a.view(np.uint32) >> 16).astype(np.uint16)  # noqa: E731
    back = lambda a: (a.astype(np.uint32) << 16).view(np.float32)  # noqa: E731
    got = OPS["conv2d"].kernel_for("cupy")[0](cupy, cupy.asarray(bits(x)), cupy.asarray(bits(weight)))
    want = OPS["conv2d"].kernel(np, back(bits(x)), back(bits(weight)))
    np.testing.assert_allclose(back(got.get()), want, 1e-2, 1e-2)
    assert len(cudnn.calls) == 5


def test_a_graph_of_a_shape_is_built_once_and_float32_is_float32(
    cupy: Any, cudnn: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = OPS["conv2d"].kernel_for("cupy")[0]
    x, weight = cupy.asarray(_numbers(1, 1, 2, 4, 4)), cupy.asarray(_numbers(2, 3, 2, 3, 3))
    with counted() as counts:
        kernel(cupy, x, weight)
        kernel(cupy, x, weight)
    assert (counts.waits, counts.to_device, counts.to_host) == (0, 0, 0)
    assert cudnn.built == ["fprop"]
    assert cudnn.calls == [("fprop", F32)] * 2
    kernel(cupy, x[:, :, 1:], weight)
    assert cudnn.built == ["fprop"] * 2
    monkeypatch.setenv("CUPY_TF32", "1")
    _forget()
    kernel(cupy, x, weight)
    assert cudnn.calls[-1] == ("fprop", F32[:2])


def test_it_is_captured_on_the_current_stream(cupy: Any, cudnn: Any) -> None:
    kernel = OPS["conv2d"].kernel_for("cupy")[0]
    x, weight = _numbers(1, 1, 2, 4, 4), cupy.asarray(_numbers(2, 3, 2, 3, 3))
    moved, stream = cupy.zeros(x.shape, np.float32), cupy.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        got = kernel(cupy, moved, weight)
        graph = stream.end_capture()
    moved.set(x)
    assert np.isnan(got.get()).all()
    graph.launch()
    np.testing.assert_allclose(got.get(), OPS["conv2d"].kernel(np, x, weight.get()), 1e-5, 1e-5)


def test_unserved_convolutions_are_computed_by_our_kernels(
    cupy: Any, caplog: pytest.LogCaptureFixture
) -> None:
    from engine.kernels.choice import kernels

    x, weight = _numbers(1, 2, 4, 7, 6), _numbers(2, 6, 4, 3, 2)
    with kernels.guard("auto"), cudnn_installed(refuse="dgrad") as cudnn, caplog.at_level(logging.INFO):
        _forget()
        _compare(cupy, "conv2d", x, weight)
        _compare(cupy, "conv2d", x, weight)
        _compare(cupy, "conv2d", x.astype(np.float64), weight.astype(np.float64))
    assert [kind for kind, _ in cudnn.calls] == ["fprop", "wgrad"] * 2
    messages = [record.getMessage() for record in caplog.records if "cuDNN" in record.getMessage()]
    assert len(messages) == 1
    assert messages[0].startswith("cuDNN does not serve dgrad of Convolution(")
    caplog.clear()
    with kernels.guard("auto"), cudnn_installed() as cudnn:
        cudnn.backend_version = lambda: [][0]  # the library is not found
        _forget()
        _compare(cupy, "conv2d", x, weight)
        _compare(cupy, "conv2d", x, weight)
    assert not cudnn.calls
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "can't be used" in caplog.text
    _forget()
