"""Convolutions through cuDNN, where its Python front end is installed (extra ``gpu-cudnn``) and works.

CuPy 14 has no cuDNN. ``nvidia-cudnn-frontend`` builds a graph of one operation for given shapes, which is
stored; running it takes addresses, a workspace, which is an array like any other, and the current stream, so
it can be captured. Only engines that give the same bits each time are used. float32 is computed as such;
with ``CUPY_TF32=1``, the variable that CuPy's own products follow, in TF32. The kernels of ``cuda/`` compute
convolutions that cuDNN does not serve. Sources: docs.nvidia.com/deeplearning/cudnn, the wheel's own
signatures.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import threading
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import cupy

from engine.kernels.cupy.images.strides import strides_of

if TYPE_CHECKING:
    from engine.kernels.cupy.images.convolution import Convolution

_log = logging.getLogger(__name__)

_CACHED = 512  # graphs
_ALIGNED = 16  # bytes: the alignment that cuDNN assumes of every address
# The names of cuDNN's types by those of arrays; bfloat16 is stored as its bits.
_TYPES = {"float32": "FLOAT", "float16": "HALF", "uint16": "BFLOAT16"}
_lock = threading.Lock()  # a handle has one stream at a time


@cache
def front_end() -> Any:
    """The module ``cudnn``; None where it is not installed, or finds no library (the reason is logged)."""
    if importlib.util.find_spec("cudnn") is None:
        return None
    try:
        import cudnn

        cudnn.backend_version()
    except Exception as error:  # any error of the loader of the library
        _log.warning("cuDNN is installed and can't be used, the engine's own kernels compute: %s", error)
        return None
    return cudnn


@lru_cache(maxsize=16)
def _handle(device: int) -> Any:
    return front_end().create_handle()


class _Plan:
    """A convolution of given shapes, or a gradient of one, built by cuDNN.

    ``kind`` is ``fprop`` (image, filters to result), ``dgrad`` (gradient of the result, filters to that of
    the image) or ``wgrad`` (image, gradient of the result to that of the filters).
    """

    def __init__(
        self, kind: str, sizes: Convolution, name: str, strides: tuple[tuple[int, ...], ...], device: int
    ) -> None:
        cudnn = front_end()
        self._handle = _handle(device)
        stored = cudnn.data_type.__members__[_TYPES[name]]
        graph = cudnn.pygraph(
            handle=self._handle,
            io_data_type=stored,
            intermediate_data_type=cudnn.data_type.FLOAT,
            compute_data_type=cudnn.data_type.FLOAT,
        )
        shapes = _shapes(sizes)
        ends = {
            "fprop": ("image", "filters", "result"),
            "dgrad": ("result", "filters", "image"),
            "wgrad": ("image", "result", "filters"),
        }[kind]
        first, second = (
            graph.tensor(dim=shapes[end], stride=list(steps), data_type=stored)
            for end, steps in zip(ends[:2], strides[:2], strict=True)
        )
        rank = sizes.rank
        common = {
            "pre_padding": list(sizes.pads[3 - rank :]),
            "post_padding": _after(sizes),
            "stride": list(sizes.strides[3 - rank :]),
            "dilation": list(sizes.dilations[3 - rank :]),
        }
        if kind == "fprop":
            made = graph.conv_fprop(image=first, weight=second, **common)
        elif kind == "dgrad":
            made = graph.conv_dgrad(loss=first, filter=second, **common)
        else:
            made = graph.conv_wgrad(image=first, loss=second, **common)
        made.set_output(True).set_data_type(stored)
        made.set_dim(shapes[ends[2]]).set_stride(list(strides[2]))
        graph.validate()
        graph.build_operation_graph()
        graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
        graph.deselect_numeric_notes(_excluded_notes(cudnn, name))
        graph.check_support()
        graph.build_plans()
        self._graph, self._ends = graph, (first, second, made)
        self._workspace = graph.get_workspace_size()

    def __call__(self, first: Any, second: Any, made: Any) -> None:
        """Give it to the current stream."""
        workspace = cupy.empty(max(self._workspace, 1), cupy.uint8)
        places = {end: array.data.ptr for end, array in zip(self._ends, (first, second, made), strict=True)}
        with _lock:
            front_end().set_stream(handle=self._handle, stream=cupy.cuda.get_current_stream().ptr)
            self._graph.execute(places, workspace.data.ptr, handle=self._handle)


def _excluded_notes(cudnn: Any, name: str) -> list[Any]:
    """Engines that are not used: sums in another order each time; less than float32 where it is not asked."""
    notes = cudnn.numerical_note
    found = [notes.NONDETERMINISTIC, notes.REDUCED_PRECISION_REDUCTION]
    if name == "float32" and os.environ.get("CUPY_TF32", "0") in ("", "0"):
        found += [notes.TENSOR_CORE, notes.DOWN_CONVERT_INPUTS]
    return found


def _shapes(sizes: Convolution) -> dict[str, list[int]]:
    """Sizes as cuDNN counts them: channels before places, whatever the memory order."""
    inner = slice(3 - sizes.rank, None)
    return {
        "image": [sizes.samples, sizes.channels, *sizes.image[inner]],
        "filters": [sizes.filters, sizes.taken, *sizes.kernel[inner]],
        "result": [sizes.samples, sizes.filters, *sizes.made[inner]],
    }


def _after(sizes: Convolution) -> list[int]:
    """Places that are added behind, so that the result has its size."""
    found = []
    for n in range(3 - sizes.rank, 3):
        reach = (sizes.made[n] - 1) * sizes.strides[n] + (sizes.kernel[n] - 1) * sizes.dilations[n] + 1
        found.append(max(reach - sizes.image[n] - sizes.pads[n], 0))
    return found


@lru_cache(maxsize=_CACHED)
def _plan(
    kind: str, sizes: Convolution, name: str, strides: tuple[tuple[int, ...], ...], device: int
) -> _Plan | None:
    """The convolution built; None if cuDNN does not serve it (the reason is logged)."""
    try:
        return _Plan(kind, sizes, name, strides, device)
    except (RuntimeError, front_end().cudnnGraphNotSupportedError) as error:
        _log.info("cuDNN does not serve %s of %s in %s: %s", kind, sizes, name, str(error).strip()[:200])
        return None


def _ready(array: Any) -> Any:
    """Contiguous, at an address that cuDNN takes."""
    array = cupy.ascontiguousarray(array)
    return array if array.data.ptr % _ALIGNED == 0 else array.copy()


def _run(kind: str, sizes: Convolution, first: Any, second: Any, shape: tuple[int, ...]) -> Any:
    """The operation; None where the engine's own kernels are to compute."""
    name = first.dtype.name
    if front_end() is None or name not in _TYPES or not first.size or not second.size:
        return None
    first, second, made = _ready(first), _ready(second), cupy.empty(shape, first.dtype)
    if not made.size:
        return None
    lasts = (sizes.last, kind == "wgrad" and sizes.last, kind != "wgrad" and sizes.last)
    strides = tuple(
        _steps(array, sizes.rank, last) for array, last in zip((first, second, made), lasts, strict=True)
    )
    plan = _plan(kind, sizes, name, strides, cupy.cuda.runtime.getDevice())
    if plan is None:
        return None
    plan(first, second, made)
    return made


def _steps(array: Any, rank: int, last: bool) -> tuple[int, ...]:
    sample, channel, *inner = strides_of(array, rank, last)[1]
    return sample, channel, *inner[3 - rank :]


def forward(sizes: Convolution, x: Any, weight: Any) -> Any:
    """The convolution; None where the engine's own kernels are to compute."""
    return _run("fprop", sizes, x, weight, sizes.shape(sizes.filters, sizes.made))


def input_gradient(sizes: Convolution, g: Any, weight: Any) -> Any:
    """The gradient of the image; None where the engine's own kernels are to compute."""
    return _run("dgrad", sizes, g, weight, sizes.shape(sizes.channels, sizes.image))


def filter_gradient(sizes: Convolution, x: Any, g: Any) -> Any:
    """The gradient of the filters; None where the engine's own kernels are to compute."""
    shape = (sizes.filters, sizes.taken, *sizes.kernel[3 - sizes.rank :])
    return _run("wgrad", sizes, x, g, shape)
