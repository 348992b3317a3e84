"""Tensors as plain values of bounded size: statistics, a histogram, images, rows of a table."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError
from engine.core.values import bfloat
from engine.debugger.points import Array

Numbers = np.ndarray[Any, Any]

MOST_BINS = 512
MOST_CELLS = 20_000  # of a table at once
MOST_PIXELS = 1 << 19  # of all channels at once
_SIDE = 1024  # of one image
_SMALL = 1000  # elements, of which each is asked as fast
_FLOATING = frozenset("efdgFDGH")  # H is bfloat16


@dataclass(frozen=True)
class Extremes:
    """Shape, counts of special elements, and figures of the finite ones, NaN where there are none."""

    shape: list[int] | None
    dtype: str
    count: int = 0
    nan: int = 0
    positive_infinite: int = 0
    negative_infinite: int = 0
    zero: int = 0
    minimum: float = math.nan
    maximum: float = math.nan


def arrays_of(value: Array) -> Iterator[Any]:
    """The arrays of a value: itself, or those of a list; none where it is something else."""
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from arrays_of(each)
    elif hasattr(value, "dtype") and hasattr(value, "shape"):
        yield value


def host(array: Array) -> Numbers:
    """The array on the CPU, as it is stored; a bfloat16 as it is."""
    if isinstance(array, np.ndarray):
        return array
    if isinstance(array, np.generic):
        return np.asarray(array)
    found: Numbers = array.get()  # CuPy's: fetched when it is seen
    return found


def numbers(array: Array) -> Numbers:
    """The numbers of an array on the CPU: a bfloat16 as float32."""
    found: Numbers = bfloat.numbers(host(array))
    return found


def is_finite(array: Array) -> bool:
    """Whether no element is NaN or infinite."""
    if array.dtype.char not in _FLOATING:
        return True
    values = bfloat.numbers(array)  # of a GPU there
    if values.size <= _SMALL:
        return bool(host(np.isfinite(values)).all())
    # A sum is NaN or infinite where an element is, and costs a third of asking each element; a product less.
    with np.errstate(all="ignore"):
        if values.dtype.char in "fd" and values.flags.c_contiguous:
            flat = values.reshape(-1)
            total = flat.dot(flat)
        else:
            total = values.sum()
    return bool(np.isfinite(host(total))) or bool(np.isfinite(host(values)).all())


def dtype_name(array: Array) -> str:
    """The name of the dtype, as the engine has it."""
    return "bfloat16" if bfloat.is_bfloat16(array) else str(array.dtype)


def extremes(value: Array) -> Extremes:
    """What a list of values shows of one; the first array of a list counts."""
    if isinstance(value, (list, tuple)):
        found = list(arrays_of(value))
        if not found:
            return Extremes(None, f"list of {len(value)}")
        parts = [extremes(each) for each in found]
        return Extremes(
            parts[0].shape if len(parts) == 1 else None,
            parts[0].dtype if len(parts) == 1 else f"list of {len(parts)}",
            sum(p.count for p in parts),
            sum(p.nan for p in parts),
            sum(p.positive_infinite for p in parts),
            sum(p.negative_infinite for p in parts),
            sum(p.zero for p in parts),
            _least([p.minimum for p in parts]),
            -_least([-p.maximum for p in parts]),
        )
    if not hasattr(value, "dtype"):
        return Extremes(None, type(value).__name__)
    shape, dtype = [int(size) for size in value.shape], dtype_name(value)
    values = numbers(value)
    if values.dtype.kind == "c":
        values = np.abs(values)
    if values.dtype.kind not in "fiub":
        return Extremes(shape, dtype, values.size)
    zero = values.size - int(np.count_nonzero(values))
    if values.dtype.kind != "f":
        low, high = (float(values.min()), float(values.max())) if values.size else (math.nan, math.nan)
        return Extremes(shape, dtype, values.size, zero=zero, minimum=low, maximum=high)
    nan, above, below = 0, 0, 0
    if not is_finite(values):
        nan = int(np.count_nonzero(np.isnan(values)))
        above, below = int(np.count_nonzero(np.isposinf(values))), int(np.count_nonzero(np.isneginf(values)))
        values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if values.size else (math.nan, math.nan)
    return Extremes(shape, dtype, math.prod(shape), nan, above, below, zero, low, high)


def _least(values: list[float]) -> float:
    found = [each for each in values if not math.isnan(each)]
    return min(found) if found else math.nan


def statistics(array: Array) -> dict[str, Any]:
    """Counts of NaN, infinities and zeros, and minimum, maximum, mean, deviation and norm of the finite
    elements, None where there are none."""
    known = extremes(array)
    values = _finite(_numbers(array))
    figures: dict[str, float | None] = {"mean": None, "deviation": None, "norm": None}
    if values.size:
        wide = values.astype(np.float64, copy=False)
        with np.errstate(all="ignore"):
            mean = float(wide.mean())
            figures = {
                "mean": _plain(mean),
                "deviation": _plain(float(np.sqrt(np.square(wide - mean).mean()))),
                "norm": _plain(float(np.sqrt(np.square(wide).sum()))),
            }
    plain = {k: _plain(v) if isinstance(v, float) else v for k, v in asdict(known).items()}
    return {**plain, **figures, "bytes": int(getattr(array, "nbytes", 0))}


def histogram(array: Array, bins: int = 64) -> dict[str, Any]:
    """Counts of the finite elements in equal bins from ``low`` to ``high``, and how many are not finite."""
    if not 1 <= bins <= MOST_BINS:
        raise ArgumentError(f"debug: bins must be from 1 to {MOST_BINS}: got {bins}; give e.g. 64")
    every = _numbers(array)
    values = _finite(every)
    if not values.size:
        return {"low": None, "high": None, "counts": [], "not_finite": int(every.size)}
    low, high = float(values.min()), float(values.max())
    if high > low:
        # Halves in double: the width may overflow.
        share = (values.astype(np.float64) / 2 - low / 2) / (high / 2 - low / 2)
        places = np.minimum((share * bins).astype(np.int64), bins - 1)
        counts = np.bincount(np.maximum(places, 0).reshape(-1), minlength=bins).tolist()
    else:
        counts = [int(values.size)]
    return {"low": low, "high": high, "counts": counts, "not_finite": int(every.size - values.size)}


def image(
    array: Array, sample: int = 0, first: int = 0, count: int = 64, side: int = 256, last: bool = False
) -> dict[str, Any]:
    """Channels of one sample as images: ``values`` has float32s (channels, rows, columns) as base64.

    As :func:`channels`, in plain values.
    """
    packed, described = channels(array, sample, first, count, side, last)
    return {"values": base64.b64encode(packed.tobytes()).decode("ascii"), **described}


def channels(
    array: Array, sample: int = 0, first: int = 0, count: int = 64, side: int = 256, last: bool = False
) -> tuple[Numbers, dict[str, Any]]:
    """Channels of one sample as little-endian float32 [channels, rows, columns], and what they are of.

    Of large images each ``step``-th row and column is there. A tensor [N, C, H, W] has N samples of C
    channels (``last``: [N, H, W, C]), [C, H, W] and [H, W] have one sample, and a vector is one row.
    ``low`` and ``high`` are of the finite elements of the sample.
    """
    planes = _planes(_numbers(array), last)
    samples, total, rows, columns = planes.shape
    if not 0 <= sample < max(samples, 1):
        raise ArgumentError(f"debug: no sample {sample}: there are {samples}; give one from 0 on")
    side = max(1, min(side, _SIDE))
    step = max(1, math.ceil(max(rows, columns) / side))
    chosen = planes[sample] if samples else planes.reshape(0, rows, columns)
    finite = _finite(chosen)
    shown = chosen[:, ::step, ::step]
    each = max(1, shown.shape[1] * shown.shape[2])
    first = max(0, min(first, total))
    shown = shown[first : first + max(1, min(count, MOST_PIXELS // each))]
    with np.errstate(all="ignore"):
        packed = np.ascontiguousarray(shown, dtype="<f4")
    return packed, {
        "channels": int(shown.shape[0]),
        "rows": int(shown.shape[1]),
        "columns": int(shown.shape[2]),
        "first": first,
        "total": int(total),
        "sample": sample,
        "samples": int(samples),
        "low": float(finite.min()) if finite.size else None,
        "high": float(finite.max()) if finite.size else None,
        "step": step,
    }


def rows(array: Array, row: int = 0, column: int = 0, count: int = 100, width: int = 50) -> dict[str, Any]:
    """A rectangle of the tensor as a table: the last axis goes across, a vector goes down.

    NaN and infinities are the texts ``nan``, ``inf`` and ``-inf``, complex numbers are texts too.
    """
    values = numbers(array)
    table = values.reshape(-1, 1) if values.ndim < 2 else values.reshape(-1, values.shape[-1])
    row, column = max(0, row), max(0, column)
    width = max(1, min(width, MOST_CELLS))
    count = max(1, min(count, MOST_CELLS // width))
    part = table[row : row + count, column : column + width]
    return {
        "row": row,
        "column": column,
        "rows": int(table.shape[0]),
        "columns": int(table.shape[1]),
        "values": [[_cell(each) for each in line] for line in part.tolist()],
    }


KINDS = {"statistics": statistics, "histogram": histogram, "image": image, "rows": rows}


def view(array: Array, kind: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """A view by its name.

    Raises ArgumentError for another name, other options, or a value that is not an array.
    """
    if kind not in KINDS:
        raise ArgumentError(f"debug: no such view: got {kind!r}; choose {', '.join(KINDS)}")
    if isinstance(array, (list, tuple)):
        found = list(arrays_of(array))
        if not found:
            raise ArgumentError(f"debug: the value is an empty list of {len(array)}, not a tensor")
        array = found[int(options.get("item", 0)) % len(found)]
    elif not hasattr(array, "dtype"):
        raise ArgumentError(f"debug: the value is not a tensor, but {type(array).__name__}")
    options = {name: value for name, value in options.items() if name != "item"}
    try:
        return KINDS[kind](array, **options)
    except TypeError as error:
        raise ArgumentError(f"debug: {kind}: {error}") from error


def _numbers(array: Array) -> Numbers:
    """Real numbers to look at: of complex ones the absolute values."""
    values = numbers(array)
    return np.abs(values) if values.dtype.kind == "c" else values


def _finite(values: Numbers) -> Numbers:
    if values.dtype.kind != "f":
        return values.astype(np.uint8) if values.dtype.kind == "b" else values
    return values if is_finite(values) else values[np.isfinite(values)]


def _planes(values: Numbers, last: bool) -> Numbers:
    """(samples, channels, rows, columns)."""
    if last and values.ndim >= 3:
        values = np.moveaxis(values, -1, -3)
    while values.ndim < 2:
        values = values[None]
    if values.ndim > 4:
        values = values.reshape(-1, *values.shape[-3:])
    while values.ndim < 4:
        values = values[None]
    return values


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _cell(value: Array) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return str(value) if isinstance(value, complex) else value
