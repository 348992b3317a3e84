"""The cost of an operator beyond inference: results whose size is data, workspace, operations.

The numbers are upper bounds, or estimates on the safe side, for operators of a Program that is not trusted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from engine.core.operators.bounds import bounds_of
from engine.core.operators.opdef import OPS
from engine.core.values.spec import Spec
from engine.ops.arrays.creation import sizes

Attrs = Mapping[str, Any]

_WIDE = 8  # bytes of an element, whatever its dtype
_LOOP = 200_000  # operations in the time that one turn of a loop in Python takes


def data_bytes(name: str, inputs: Sequence[Any], attrs: Attrs) -> int:
    """Bytes of results whose shape depends on the values of the inputs, which are arrays."""
    given = dict(zip(OPS[name].input_names, inputs, strict=True))
    count = _COUNTS[name](given, attrs) if name in _COUNTS else _WIDE * _elements(inputs)
    return int(count) * _WIDE


def _elements(value: Any) -> int:
    if isinstance(value, (list, tuple)):
        return sum(_elements(v) for v in value)
    return 0 if value is None else int(value.size)


def _largest(values: Any) -> float:
    return float(values.max()) if values is not None and values.size else 0.0


def _expanded(given: Mapping[str, Any], attrs: Attrs) -> float:
    x, made = given["x"], sizes(attrs["shape"], given["dims"], attrs["places"], least=-1)
    have = [1] * (len(made) - x.ndim) + list(x.shape)
    return math.prod(h if d == -1 else d for h, d in zip(have, made, strict=True))


def _resized(given: Mapping[str, Any], attrs: Attrs) -> float:
    x, asked, scale = given["x"], given["out_size"], given["scale_tensor"]
    if asked is not None:
        return float(x.size * math.prod(max(float(n), 1.0) for n in asked.reshape(-1)))
    factors = attrs["scale"] if scale is None else scale.reshape(-1).tolist()
    factors = list(factors) if isinstance(factors, (list, tuple)) else [factors]
    factors = factors * (x.ndim - 2) if len(factors) == 1 else factors
    return float(x.size * math.prod(max(float(f), 1.0) for f in factors))


def _padded(given: Mapping[str, Any], attrs: Attrs) -> float:
    x, pads = given["x"], given["pads"]
    added = [max(float(p), 0.0) for p in (attrs["paddings"] if pads is None else pads.reshape(-1))]
    both = [a + b for a, b in zip(added[0::2], added[1::2], strict=True)]
    return max(_padded_size(x.shape, places, both[::-1]) for places in (range(1, 4), range(2, 5)))


def _padded_size(shape: Sequence[int], places: Sequence[int], added: Sequence[float]) -> float:
    by_place = dict(zip(places, added, strict=False))
    return math.prod(d + by_place.get(n, 0) for n, d in enumerate(shape))


def _range(given: Mapping[str, Any], attrs: Attrs) -> float:
    start, end, step = (float(given[n].reshape(()).item()) for n in ("start", "end", "step"))
    return max((end - start) / step, 0.0) + 1 if step else 0


def _sequences(given: Mapping[str, Any], attrs: Attrs) -> float:
    x, lengths, like = given["x"], given["lengths"], given.get("like")
    steps = attrs.get("maxlen", -1) if like is None else like.shape[1]
    return float(lengths.size * max(steps, _largest(lengths), 1.0) * math.prod(x.shape[1:]))


_INTERPOLATIONS = ("nearest", "linear", "bilinear", "trilinear", "bicubic")


def _finite(
    count: Callable[[Mapping[str, Any], Attrs], float],
) -> Callable[[Mapping[str, Any], Attrs], float]:
    """The same with a number in place of nan and infinity, over every limit."""
    return lambda given, attrs: (
        min(max(found, 0.0), 1e18) if (found := count(given, attrs)) == found else 1e18
    )


# Elements of results, by operator; others have at most eight for each element of their inputs.
_COUNTS: dict[str, Callable[[Mapping[str, Any], Attrs], float]] = {
    name: _finite(count)
    for name, count in {
        "fill_constant": lambda g, a: math.prod(sizes(a["shape"], g["dims"])),
        "expand_v2_dims": _expanded,
        "reshape2_dims": lambda g, a: g["x"].size,
        "tile_dims": lambda g, a: g["x"].size * math.prod(sizes(a["repeat_times"], g["dims"])),
        "linspace_of": lambda g, a: float(g["num"].reshape(()).item()),
        "range_of": _range,
        "bincount": lambda g, a: max(_largest(g["x"]) + 1, a["minlength"]),
        "repeat_interleave_with_tensor_index": lambda g, a: g["x"].size * float(np.sum(g["repeats"])),
        "segment_pool": lambda g, a: (_largest(g["segment_ids"]) + 1) * math.prod(g["x"].shape[1:]),
        "pad_sequences": _sequences,
        "largest_steps": _sequences,
        "sequence_mask": lambda g, a: g["x"].size * _largest(g["x"] if g["most"] is None else g["most"]),
        "pad3d": _padded,
        "affine_grid": lambda g, a: 3 * math.prod(g["out_shape"].reshape(-1).tolist()),
        "class_center_sample": lambda g, a: 4 * (a["num_classes"] + a["num_samples"]),
        "sparse_pairs": lambda g, a: 2 * g["x"].shape[-1] * g["y"].shape[-1],
        "sparse_rulebook": lambda g, a: 4 * g["indices"].size * math.prod(a["kernel_size"]),
        "where_index": lambda g, a: _elements(list(g.values())) * 8,
        **{f"{kind}_interp_v2": _resized for kind in _INTERPOLATIONS},
    }.items()
}


def _declared(kind: str, name: str, attrs: Attrs) -> Iterator[int]:
    """The integers among the attributes that the operator declares as this kind."""
    for each, bound in bounds_of(OPS[name]).items():
        if bound.kind == kind and isinstance(attrs.get(each), int):
            yield attrs[each]


def workspace(name: str, inputs: Sequence[Any], results: Sequence[Spec], attrs: Attrs) -> int:
    """Bytes that a kernel allocates for itself, where they may be more than its inputs and results.

    ``inputs`` and ``results`` are Specs.
    """
    x = _first(inputs)
    count = float(sum(_declared("Reserved", name, attrs)))
    if x is not None and "paddings" in attrs and "strides" in attrs:
        added = _around(x.ndim - 2, attrs)
        layouts = [_padded_size(x.shape, range(2 - shift, x.ndim - shift), added) for shift in (0, 1)]
        padded, weight = max(layouts), _weight(inputs)
        if weight is not None:
            padded *= weight.shape[-1] + 1
        count += padded
    if "_interp_v2" in name:  # the places and weights that each line of the result is made of
        made = inputs[1] if name.endswith("_grad") else results[0]
        count += 32.0 * sum(max(d, 0) for d in made.shape[1:])
    if name.endswith("_integer"):  # both sides in the dtype of the product, perhaps the sums in float64
        count += 2.0 * _sizes(inputs)
    return int(min(count, 1e17)) * _WIDE // (2 if x is not None and x.dtype.itemsize <= 4 else 1)


def _around(rank: int, attrs: Attrs) -> list[float]:
    """The elements that windows read outside of an image, in each of its dimensions."""
    pads = attrs["paddings"] if isinstance(attrs["paddings"], (list, tuple)) else [0] * rank
    both = (
        [2.0 * p for p in pads]
        if len(pads) <= rank
        else list(map(sum, zip(pads[0::2], pads[1::2], strict=True)))
    )
    beyond = attrs["strides"] if attrs.get("ceil_mode") else [0] * len(both)  # by the last window
    return [max(p, 0.0) + s for p, s in zip(both, beyond, strict=False)]


def _first(inputs: Sequence[Any]) -> Spec | None:
    first = inputs[0] if inputs else None
    return first if isinstance(first, Spec) else None


def _weight(inputs: Sequence[Any]) -> Spec | None:
    second = inputs[1] if len(inputs) > 1 else None
    return second if isinstance(second, Spec) and second.ndim >= 4 else None


_MATRIX = frozenset(
    ("solve", "inverse", "cholesky", "cholesky_solve", "triangular_solve", "determinant", "determinant_grad")
) | {"slogdeterminant", "lu", "lu_unpack"}
_SPECTRUM = frozenset(("svd", "eig", "eig_grad", "eigh", "eigvals", "lstsq", "pinv", "matrix_rank", "qr"))
_PRODUCT = frozenset(
    ("matmul_v2", "mul", "bmm", "addmm", "mv", "dot", "product_of_rows", "matmul_v2_integer", "mul_integer")
)
# Operators whose kernels have loops in Python over a dimension of an input.
_TURNING = frozenset(
    name + ending
    for name in (
        "rnn",
        "warpctc",
        "warprnnt",
        "viterbi_decode",
        "gather_tree",
        "nms",
        "matrix_nms",
        "yolov3_loss",
        "generate_proposals_v2",
        "yolov3_loss_weights",
        "roi_align",
        "roi_pool",
        "roi_pool_pick",
        "psroi_pool",
        "lu",
        "lu_unpack",
        "mode",
    )
    for ending in ("", "_grad")
)


def operations(name: str, inputs: Sequence[Any], results: Sequence[Spec], attrs: Attrs) -> float:
    """An estimate of the multiplications with additions in the time that the operator takes."""
    x = _first(inputs)
    made = sum(max(r.size, 0) for r in results)
    found = 20.0 * (made + _sizes(inputs))
    if x is None:
        return found
    if name in _PRODUCT and x.ndim:
        along = x.shape[-2 if attrs.get("trans_x") and x.ndim > 1 else -1]
        if name.startswith("mul"):
            along = math.prod(x.shape[attrs["x_num_col_dims"] :])
        elif name == "product_of_rows":
            along = math.prod(x.shape[:-1])
        found += float(made) * along * (1 if x.dtype.is_floating_point else 20)
    elif name in _MATRIX | _SPECTRUM and x.ndim:
        found += float(_sizes(inputs)) * max(x.shape[-2:]) * (30 if name in _SPECTRUM else 2)
    elif name.startswith(("conv", "depthwise_conv")) and (weight := _weight(inputs)) is not None:
        largest = max(made, x.size)
        found += float(largest) * weight.size / max(weight.shape[0], 1)
    elif "ksize" in attrs or "kernel_sizes" in attrs:
        places = math.prod(attrs.get("ksize") or attrs.get("kernel_sizes") or ())
        found += float(places) * (_LOOP + made)
    if name in _TURNING:
        found += float(max(x.shape, default=0)) * _LOOP
    for turns in _declared("Turns", name, attrs):
        found = max(found, 1.0) * max(turns, 1)
    return found


def _sizes(inputs: Any) -> int:
    if isinstance(inputs, Spec):
        return max(inputs.size, 0)
    return sum(_sizes(v) for v in inputs or ())
