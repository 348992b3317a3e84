"""Rows of paths: through the beams of a search, the classes of a tree, the tags of a sequence."""

from __future__ import annotations

import numpy as np

from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.rows import writes
from engine.onnx.writes.scans import scanned
from engine.onnx.writes.sizes import int64, joined, numbers_below, sizes


@writes("gather_tree")
def _(g: Graph, ids: Value, parents: Value) -> Value:
    _, batch, beams = sizes(g, ids)
    if 0 in ids.shape:
        return ids

    def body(inner: Graph, beam: Value, each: Value, before: Value) -> list[Value]:
        return [
            inner.GatherElements(before, beam, axis=1),
            inner.GatherElements(each, beam, axis=1),
        ]

    start = g.Expand(numbers_below(g, beams), joined(g, [batch, beams]))
    values = [(ids, ids.dtype, 2), (int64(g, parents), "int64", 2)]
    return scanned(g, body, [(start, "int64", 2)], values, 0, True, [(ids.dtype, 2)])[1]


@writes("complete_tree_paths")
def _(g: Graph, label: Value, *, num_classes: int) -> tuple[Value, Value, Value]:
    depth = (2 * num_classes - 1).bit_length() - 1
    code = g.Add(g.Reshape(int64(g, label), [-1, 1]), num_classes)
    powers = 2 ** np.arange(depth + 1, dtype=np.int64)
    above = g.Div(code, powers[None, 1:])
    inside = g.Greater(above, 0)
    turns = g.Equal(g.Mod(g.Div(code, powers[None, :-1]), 2), 1)
    return g.Where(inside, g.Sub(above, 1), 0), turns, inside


@writes("viterbi_decode")
def _(
    g: Graph, potentials: Value, transition: Value, lengths: Value, *, include_bos_eos_tag: bool
) -> tuple[Value, Value]:
    """Forward through time to the scores of the last tags, then back along the best tags before each."""
    time = sizes(g, potentials)[1]
    ends = g.Unsqueeze(int64(g, lengths), [1])
    times = numbers_below(g, time)
    by_time = g.Transpose(potentials, perm=[1, 0, 2])
    stop = g.Gather(transition, [-2], axis=0)
    first = g.Gather(by_time, np.int64(0), axis=0)
    if include_bos_eos_tag:
        first = g.Add(first, g.Gather(transition, [-1], axis=0))
        first = g.Where(g.Equal(ends, 1), g.Add(first, stop), first)
    steps = transition if transition.array is not None else g.Identity(transition)
    dtype = potentials.dtype
    rest = [np.iinfo(np.int64).max]

    def onward(inner: Graph, alpha: Value, each: Value, t: Value) -> list[Value]:
        sums = inner.Add(inner.Unsqueeze(alpha, [2]), inner.Unsqueeze(steps, [0]))
        after = inner.Add(inner.ReduceMax(sums, axes=[1], keepdims=0), each)
        if include_bos_eos_tag:
            ending = inner.Equal(ends, inner.Add(t, 1))
            after = inner.Where(ending, inner.Add(after, stop), after)
        alpha = inner.Where(inner.Greater(ends, t), after, alpha)
        return [alpha, inner.ArgMax(sums, axis=1, keepdims=0)]

    values = [(g.Slice(by_time, [1], rest, [0]), dtype, 2), (g.Slice(times, [1], rest, [0]), "int64", 0)]
    alpha, history = scanned(g, onward, [(first, dtype, 2)], values, 0, False, [("int64", 2)])

    def back(inner: Graph, tag: Value, before: Value, t: Value) -> list[Value]:
        inside = inner.Greater(ends, t)
        earlier = inner.Where(inside, inner.GatherElements(before, tag, axis=1), tag)
        return [earlier, inner.Where(inside, tag, 0)]

    last = g.ArgMax(alpha, axis=1, keepdims=1)
    values = [(history, "int64", 2), (g.Slice(times, [1], rest, [0]), "int64", 0)]
    tag, later = scanned(g, back, [(last, "int64", 2)], values, 0, True, [("int64", 2)])
    start = g.Where(g.Greater(ends, 0), tag, 0)
    path = g.Squeeze(g.Concat(g.Unsqueeze(start, [0]), later, axis=0), [2])
    longest = g.ReduceMax(g.Concat(g.Squeeze(ends, [1]), [0], axis=0), axes=[0], keepdims=1)
    path = g.Slice(g.Transpose(path, perm=[1, 0]), [0], longest, [1])
    return g.ReduceMax(alpha, axes=[1], keepdims=0), path
