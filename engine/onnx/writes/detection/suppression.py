"""Rows of non-maximum suppression, by ``NonMaxSuppression``."""

from __future__ import annotations

import numpy as np

from engine.core.errors import ArgumentError
from engine.onnx.extra import onnx_package
from engine.onnx.writes.graph import Graph, Value, element_type
from engine.onnx.writes.rows import writes
from engine.onnx.writes.sizes import Size, computed, joined, numbers_below, size, vector

_NEVER = np.float32(-np.inf)  # a score that no threshold lets through


def _as_float32(g: Graph, x: Value) -> Value:
    return x if x.dtype == "float32" else g.cast(x, "float32")


@writes("nms")
def _(g: Graph, boxes: Value, *, iou_threshold: float) -> Value:
    """The boxes come in the order of their scores."""
    count = vector(g, size(g, boxes, 0))
    scores = g.Neg(g.cast(numbers_below(g, size(g, boxes, 0)), "float32"))
    chosen = g.NonMaxSuppression(
        g.Unsqueeze(_as_float32(g, boxes), [0]),
        g.Unsqueeze(scores, [0, 1]),
        count,
        np.asarray([min(max(iou_threshold, 0.0), 1.0)], np.float32),
    )
    return g.Gather(chosen, np.int64(2), axis=1)


def sorted_places(g: Graph, x: Value, descending: bool) -> Value:
    """The positions that sort a vector; equal elements keep their order."""
    return g.node("TopK", x, g.Shape(x), outputs=2, axis=0, largest=int(descending))[1]


def best_of_each(g: Graph, images: Value, scores: Value, batch: Size, most: int) -> Value:
    """The positions of the ``most`` best of each image, in ascending order. ``images`` are int64 numbers."""
    by_score = sorted_places(g, scores, descending=True)
    order = g.Gather(by_score, sorted_places(g, g.Gather(images, by_score), descending=False))
    image = g.Gather(images, order)
    ends = g.CumSum(counts(g, images, batch, "int64"), np.int64(0), exclusive=1)
    total = g.Reshape(g.Range(np.int64(0), g.Squeeze(g.Shape(images), [0]), np.int64(1)), [-1])
    rank = g.Sub(total, g.Gather(ends, image))
    kept = g.Compress(order, g.Less(rank, np.int64(most)), axis=0)
    return g.node("TopK", kept, g.Shape(kept), outputs=2, axis=0, largest=0)[0]


def counts(g: Graph, images: Value, batch: Size, dtype: str) -> Value:
    """How often each image occurs."""
    alike = g.Equal(g.Unsqueeze(numbers_below(g, batch), [1]), g.Unsqueeze(images, [0]))
    return g.cast(g.ReduceSum(g.cast(alike, "int64"), [1], keepdims=0), dtype)


def or_minus_one(g: Graph, rows: Value, dtype: str) -> Value:
    """Rows, or [[-1]] if there are none."""

    def branch(name: str, source: Value) -> object:
        inner = Graph(g.writer, g)
        made = inner.Identity(source)
        info = onnx_package().helper.make_tensor_value_info(made.name, element_type(dtype), [None, None])
        return inner.proto(name, (), [info])

    none = g.Equal(g.Size(rows), np.int64(0))
    sides = branch("none", g.constant(np.full((1, 1), -1, dtype))), branch("some", rows)
    return g.node("If", none, then_branch=sides[0], else_branch=sides[1])[0]


@writes("multiclass_nms3")
def _(
    g: Graph,
    bboxes: Value,
    scores: Value,
    *,
    score_threshold: float,
    nms_top_k: int,
    keep_top_k: int,
    nms_threshold: float,
    normalized: bool,
    nms_eta: float,
    background_label: int,
) -> tuple[Value, Value, Value]:
    if nms_eta != 1:
        raise ArgumentError(f"onnx.export: multiclass_nms3: nms_eta {nms_eta}: ONNX has one threshold; use 1")
    batch, each = size(g, bboxes, 0), size(g, bboxes, 1)
    corners, ranked = _as_float32(g, bboxes), _as_float32(g, scores)
    if not normalized:  # the last pixel counts
        corners = g.Add(corners, np.asarray([0, 0, 1, 1], np.float32))
    if nms_top_k > -1:
        most = computed(g, "Min", nms_top_k, each)
        best, places = g.node("TopK", ranked, vector(g, most), outputs=2, axis=2)
        ranked = g.ScatterElements(g.Expand(_NEVER, g.Shape(ranked)), places, best, axis=2)
    if background_label >= 0:
        ranked = g.ScatterElements(
            ranked,
            g.Expand(np.int64(background_label), joined(g, [batch, 1, each])),
            g.Expand(_NEVER, joined(g, [batch, 1, each])),
            axis=1,
        )
    chosen = g.NonMaxSuppression(
        corners,
        ranked,
        vector(g, each),
        np.asarray([nms_threshold], np.float32),
        np.asarray([score_threshold], np.float32),
    )
    image = g.Gather(chosen, np.int64(0), axis=1)
    if keep_top_k > -1:
        kept = best_of_each(g, image, g.GatherND(ranked, chosen), batch, keep_top_k)
        chosen = g.Gather(chosen, kept, axis=0)
        image = g.Gather(chosen, np.int64(0), axis=1)
    box = g.Gather(chosen, np.asarray([0, 2]), axis=1)
    rows = g.Concat(
        g.cast(g.Slice(chosen, [1], [2], [1]), bboxes.dtype),
        g.Unsqueeze(g.GatherND(scores, chosen), [1]),
        g.GatherND(bboxes, box),
        axis=1,
    )
    whole = g.Add(g.Mul(image, vector(g, each)), g.Gather(chosen, np.int64(2), axis=1))
    return (
        or_minus_one(g, rows, bboxes.dtype),
        g.Unsqueeze(g.cast(whole, "int32"), [1]),
        counts(g, image, batch, "int32"),
    )


@writes("matrix_nms")
def _(
    g: Graph,
    bboxes: Value,
    scores: Value,
    *,
    score_threshold: float,
    post_threshold: float,
    nms_top_k: int,
    keep_top_k: int,
    use_gaussian: bool,
    gaussian_sigma: float,
    background_label: int,
    normalized: bool,
) -> tuple[Value, Value, Value]:
    """All classes of all images at once: boxes below the threshold are counted last, and dropped."""
    dtype = bboxes.dtype

    def number(value: float) -> np.ndarray:
        return g.like(value, bboxes)

    batch, each, classes = size(g, bboxes, 0), size(g, bboxes, 1), size(g, scores, 1)
    most: Size = each if nms_top_k < 0 else computed(g, "Min", nms_top_k, each)
    best, places = g.node("TopK", scores, vector(g, most), outputs=2, axis=2)  # [N, C, K]
    valid = g.Greater(best, number(score_threshold))
    if background_label >= 0:
        label = g.Reshape(numbers_below(g, classes), [1, -1, 1])
        valid = g.And(valid, g.Not(g.Equal(label, np.int64(background_label))))
    image = g.Expand(g.Reshape(numbers_below(g, batch), [-1, 1, 1]), joined(g, [batch, classes, most]))
    chosen = g.GatherND(bboxes, g.Concat(g.Unsqueeze(image, [3]), g.Unsqueeze(places, [3]), axis=3))
    corners = g.node("Split", chosen, [1, 1, 1, 1], outputs=4, axis=3)  # [N, C, K, 1]
    extra = number(0 if normalized else 1)
    lines = [g.Transpose(c, perm=[0, 1, 3, 2]) for c in corners]

    def area(x1: Value, y1: Value, x2: Value, y2: Value) -> Value:
        return g.Mul(g.Add(g.Sub(x2, x1), extra), g.Add(g.Sub(y2, y1), extra))

    sides = []
    for n in (0, 1):
        low, high = g.Max(corners[n], lines[n]), g.Min(corners[n + 2], lines[n + 2])
        reach = g.Add(g.Sub(high, low), extra)
        sides.append(g.Where(g.GreaterOrEqual(high, low), reach, number(0)))
    both = g.Mul(sides[0], sides[1])
    union = g.Sub(g.Add(area(*corners), area(*lines)), both)
    share = g.Where(g.Greater(both, number(0)), g.Div(both, union), number(0))
    rows, columns = (g.Reshape(numbers_below(g, most), shape) for shape in ([-1, 1], [1, -1]))
    better = g.Less(columns, rows)  # row i: with the better boxes j < i
    share = g.Where(better, share, number(0))
    largest = g.Transpose(g.ReduceMax(share, axes=[3], keepdims=1), perm=[0, 1, 3, 2])
    if use_gaussian:
        squares = g.Sub(g.Mul(largest, largest), g.Mul(share, share))
        factors = g.Exp(g.Mul(squares, number(gaussian_sigma)))
    else:
        factors = g.Div(g.Sub(number(1), share), g.Sub(number(1), largest))
    factors = g.Where(better, factors, number(1))
    decayed = g.Mul(best, g.Min(g.ReduceMin(factors, axes=[3], keepdims=0), number(1)))
    kept = g.And(valid, g.Greater(decayed, number(post_threshold)))
    found = g.Transpose(g.NonZero(kept), perm=[1, 0])  # image, class, place
    score = g.GatherND(decayed, found)
    owner = g.Gather(found, np.int64(0), axis=1)
    by_score = sorted_places(g, score, descending=True)
    order = g.Gather(by_score, sorted_places(g, g.Gather(owner, by_score), descending=False))
    found, score, owner = g.Gather(found, order), g.Gather(score, order), g.Gather(owner, order)
    if keep_top_k > -1:
        limited = best_of_each(g, owner, score, batch, keep_top_k)
        found, score, owner = g.Gather(found, limited), g.Gather(score, limited), g.Gather(owner, limited)
    made = g.Concat(
        g.cast(g.Slice(found, [1], [2], [1]), dtype),
        g.Unsqueeze(score, [1]),
        g.GatherND(chosen, found),
        axis=1,
    )
    whole = g.Add(g.Mul(owner, vector(g, each)), g.GatherND(places, found))
    return made, g.Unsqueeze(g.cast(whole, "int32"), [1]), counts(g, owner, batch, "int32")
