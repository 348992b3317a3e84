"""Images at another size, with Paddle's signatures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsFloat, TypeAlias

from engine.core import mode as modes
from engine.core.errors import ArgumentError, DTypeError, ShapeError
from engine.nn.functional.pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d
from engine.nn.functional.windows import whole
from engine.ops.arrays import creation, shape
from engine.ops.elementwise import arithmetic
from engine.ops.images.interpolate import OPERATORS
from engine.program.build.calls import takes_name
from engine.program.graph.unknown import known_operand
from engine.tensor.tensor_like import AnyTensor, IntegersLike

# How much larger a result is: one number, or one for each dimension.
Scale: TypeAlias = SupportsFloat | Sequence[SupportsFloat] | AnyTensor

_RANKS = {
    "linear": (1,),
    "bilinear": (2,),
    "trilinear": (3,),
    "bicubic": (2,),
    "nearest": (2, 3),
    "area": (1, 2, 3),
}
_FORMATS = {1: ("NCW", "NWC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


@takes_name
def interpolate(
    x: AnyTensor,
    size: IntegersLike | None = None,
    scale_factor: Scale | None = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """``x`` at another size.

    ``mode``: 'linear' for [N, C, W] (data_format 'NCW' or 'NWC'), 'bilinear' and 'bicubic' for images,
    'trilinear' for volumes, 'nearest' for both, 'area' (means of the parts) for all. ``size`` gives the size
    of the result, or ``scale_factor`` how much larger it is (one number or one for each dimension); either
    may be a Tensor. ``align_corners`` puts the corner elements of both onto each other; without it
    ``align_mode`` says whether elements are points in the middle of their cells (0) or at their start (1).
    Raises ArgumentError and ShapeError where these do not fit.
    """
    method = mode.lower()
    if method not in _RANKS:
        raise ArgumentError(f"interpolate: mode {mode!r} is not one of {sorted(_RANKS)}")
    rank = x.ndim - 2
    if rank not in _RANKS[method]:
        wanted = " or ".join(str(r + 2) for r in _RANKS[method])
        raise ShapeError(
            f"interpolate: x has shape {list(x.shape)}: mode {mode!r} takes {wanted} dimensions; use another "
            "mode or reshape x"
        )
    if (size is None) == (scale_factor is None):
        raise ArgumentError(
            f"interpolate: one of size and scale_factor is given: got size={size!r} and "
            f"scale_factor={scale_factor!r}"
        )
    if not isinstance(align_corners, bool):
        raise DTypeError(f"interpolate: align_corners is True or False: got {align_corners!r}")
    if align_mode not in (0, 1):
        raise ArgumentError(f"interpolate: align_mode is 0 or 1: got {align_mode!r}")
    if align_corners and method == "nearest":
        raise ArgumentError("interpolate: mode 'nearest' has no corners to align; leave align_corners False")
    if method == "area":
        return _area(x, size, rank)
    data_format = data_format.upper()
    if data_format not in _FORMATS[rank]:
        raise ArgumentError(
            f"interpolate: data_format {data_format!r} is not one of {list(_FORMATS[rank])} for x "
            f"{list(x.shape)}"
        )
    out, out_size, scale, scale_tensor = [-1, -1, -1], None, [], None
    if size is not None:
        out, out_size = _sizes(x, size, rank)
    elif modes.is_symbolic(scale_factor):
        scale_tensor = scale_factor
    else:
        scale = _scales(x, scale_factor, rank)
    return OPERATORS[method](
        x,
        out_size,
        scale_tensor,
        data_layout="NHWC" if data_format[-1] == "C" else "NCHW",
        out_d=out[0],
        out_h=out[1],
        out_w=out[2],
        scale=scale,
        interp_method=method,
        align_corners=align_corners,
        align_mode=int(align_mode),
    )


def _area(x: Any, size: Any, rank: int) -> Any:
    if size is None:
        raise ArgumentError("interpolate: mode 'area' needs size, not scale_factor")
    pool = (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[rank - 1]
    return pool(x, size)


def _sizes(x: Any, size: Any, rank: int) -> tuple[list[int], Any]:
    """The size as attributes, or as a tensor where only the running Program knows it."""
    if modes.is_symbolic(size):
        if size.ndim != 1 or size.shape[0] not in (-1, rank):
            raise ArgumentError(f"interpolate: size as a tensor has shape [{rank}]: got {list(size.shape)}")
        return [-1, -1, -1], arithmetic.cast(size, out_dtype="int32")
    if hasattr(size, "tolist"):
        size = size.tolist()
    if not isinstance(size, (list, tuple)):
        raise DTypeError(f"interpolate: size must be a list of {rank} numbers or a Tensor: got {size!r}")
    if len(size) != rank:
        raise ArgumentError(
            f"interpolate: size {list(size)} for x {list(x.shape)}; give {rank} numbers, without batch and "
            "channels"
        )
    size = [known_operand(s) for s in size]
    if any(modes.is_symbolic(s) for s in size):
        return [-1, -1, -1], _stacked(size)
    numbers = [s.item() if hasattr(s, "item") else s for s in size]
    numbers = [int(s) if isinstance(s, float) else s for s in numbers]
    if not all(map(whole, numbers)) or min(numbers) < 1:
        raise ArgumentError(f"interpolate: size is {rank} integers, 1 or more: got {numbers}")
    return [-1] * (3 - rank) + [int(s) for s in numbers], None


def _stacked(size: Any) -> Any:
    """Numbers and Variables as one Variable."""
    parts = []
    for s in size:
        if modes.is_symbolic(s):
            parts.append(shape.reshape(arithmetic.cast(s, out_dtype="int32"), shape=[1]))
        else:
            parts.append(creation.fill(shape=[1], value=int(s), dtype="int32"))
    return shape.concat(parts, axis=0)


def _scales(x: Any, scale_factor: Any, rank: int) -> list[float]:
    if hasattr(scale_factor, "tolist"):
        scale_factor = scale_factor.tolist()
    many = list(scale_factor) if isinstance(scale_factor, (list, tuple)) else [scale_factor] * rank
    if len(many) == 1 and hasattr(scale_factor, "__len__"):
        many = many * rank
    if any(isinstance(s, (bool, str)) or not hasattr(s, "__float__") for s in many):
        raise DTypeError(f"interpolate: scale_factor is a number or {rank} of them: got {scale_factor!r}")
    if len(many) != rank or not all(float(s) > 0 for s in many):
        raise ArgumentError(
            f"interpolate: scale_factor {scale_factor!r} for x {list(x.shape)}; give {rank} numbers above 0"
        )
    return [float(s) for s in many]


@takes_name
def upsample(
    x: AnyTensor,
    size: IntegersLike | None = None,
    scale_factor: Scale | None = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """``x`` at another size: the same as interpolate."""
    return interpolate(x, size, scale_factor, mode, align_corners, align_mode, data_format)
