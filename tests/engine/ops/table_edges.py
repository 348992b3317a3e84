"""Rows at the edges, for operators of many families: no dimension at all, and dimensions of size 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, bools, ints, pos, row, s, v

NONE = v(0, 3)
HOLLOW = v(2, 0)
NOWHERE = np.zeros((0,), "int64")


def _itself(x: Any, **_: Any) -> Any:
    return x


def _stack(xs: Any, axis: int = 0) -> Any:
    return np.concatenate([np.expand_dims(x, axis) for x in xs], axis)


CASES: list[Case] = [
    # -- moving elements
    *row("flip", _itself, s(v(), axis=[]), s(HOLLOW, axis=[0]), s(NONE, axis=[0, 1]), grads="x"),
    *row("roll", _itself, s(NONE, shifts=[2]), s(HOLLOW, shifts=[1], axis=[1]), grads="x"),
    *row("diagonal", lambda x: np.zeros((0,)), s(NONE), s(HOLLOW), grads="x"),
    *row("diag_embed", lambda x: np.zeros((2, 0, 0)), s(HOLLOW), grads="x"),
    *row("diag_v2", lambda x: np.zeros((0, 0)), s(v(0)), grads="x"),
    *row("repeat_interleave", lambda x, repeats: np.zeros((0, 3)), s(NONE, repeats=2), grads="x"),
    *row("meshgrid", lambda xs: [np.zeros((0, 2)), np.zeros((0, 2))], s([v(0), v(2)]), grads="xs"),
    *row("transpose2", _itself, s(v(), axis=[]), grads="x"),
    *row("transpose2", lambda x, axis: np.zeros((3, 0)), s(NONE, axis=[1, 0]), grads="x"),
    *row("squeeze2", _itself, s(v()), s(v(), axes=[0]), grads="x"),
    *row("squeeze2", lambda x, axes: np.zeros((0, 3)), s(v(0, 1, 3), axes=[1]), grads="x", unknown=False),
    *row("stack", _stack, s([NONE, NONE]), s([NONE, NONE], axis=2), grads="xs"),
    *row("unstack", lambda x, axis, num: [np.zeros((2,))] * 0, s(HOLLOW, axis=1, num=0)),
    *row("split", lambda x, axis, sections: [np.zeros((2, 0))] * 2, s(HOLLOW, axis=1, sections=[0, 0]),
         grads="x"),
    *row("split", lambda x, axis, sections: [x[:0], x], s(v(2, 3), axis=0, sections=[0, 2]), grads="x"),
    *row("concat", lambda xs, axis: xs[1], s([v(0, 3), v(2, 3)], axis=0), s([v(2, 0), v(2, 3)], axis=1),
         grads="xs"),
    *row("expand_v2", lambda x, shape: np.zeros((2, 0, 3)), s(NONE, shape=[2, -1, -1]),
         s(v(1, 3), shape=[2, 0, 3]), grads="x"),
    *row("tile", lambda x, repeat_times: np.zeros((0, 6)), s(NONE, repeat_times=[2, 2]),
         s(v(2, 3), repeat_times=[0, 2]), grads="x", unknown=False),
    *row("reshape_as", lambda x, y: np.zeros((3, 0, 2)), s(NONE, v(3, 0, 2)), grads="x"),
    *row("sum_to_like", lambda x, y: np.zeros(y.shape), s(NONE, v(3)), s(NONE, v(1, 3)), s(NONE, v()),
         grads="x"),
    *row("pad", lambda x, paddings, pad_value: np.full((3, 3), 2.5),
         s(NONE, paddings=[1, 2, 0, 0], pad_value=2.5), grads="x"),
    *row("pad", lambda x, paddings: x, s(v(), paddings=[]), grads="x"),
    # -- choosing elements
    *row("slice_view", lambda x, index: np.zeros((0, 2)),
         s(NONE, index=(("slice", None, None, 1), ("slice", 0, 2, 1))), grads="x"),
    *row("getitem", lambda x, indices, index: np.zeros((0, 3)), s(v(2, 3), [NOWHERE], index=(("tensor", 0),)),
         grads="x"),
    *row("gather", lambda x, index: np.zeros((0, 3)), s(v(4, 3), NOWHERE), s(NONE, NOWHERE), grads="x"),
    *row("index_select", lambda x, index: np.zeros((0, 3)), s(v(4, 3), NOWHERE), grads="x"),
    *row("index_add", lambda x, index, value: x, s(v(4, 3), NOWHERE, v(0, 3)), grads="x value"),
    *row("index_sample", lambda x, index: np.zeros((2, 0)), s(v(2, 3), np.zeros((2, 0), "int64")), grads="x"),
    *row("scatter", lambda x, index, updates: x, s(v(4, 3), NOWHERE, v(0, 3)), grads="x updates"),
    *row("take_along_axis", lambda x, indices, axis: np.zeros((2, 0)),
         s(v(2, 3), np.zeros((2, 0), "int64"), axis=1), grads="x"),
    *row("put_along_axis", lambda x, indices, values, axis: x,
         s(v(2, 3), np.zeros((2, 0), "int64"), v(2, 0), axis=1), grads="x values"),
    *row("masked_select", lambda x, mask: np.zeros((0,)), s(NONE, bools(0, 3)), s(v(3), np.zeros(3, bool)),
         grads="x", data=True),
    *row("where", lambda c, x, y: np.zeros((0, 3)), s(bools(0, 3), NONE, NONE), grads="x y"),
    *row("where_index", lambda x: np.zeros((0, 2), "int64"), s(bools(0, 3)), s(np.zeros((2, 2))), data=True),
    *row("unique", lambda x: [np.zeros((0,)), None, None, None], s(v(0)), data=True),
    *row("searchsorted", lambda ordered, values: np.zeros(values.shape, "int64"), s(v(0), v(2, 3)),
         s(v(3), v(0))),
    *row("one_hot_v2", lambda x, depth: np.zeros((0, 4), "float32"), s(NOWHERE, depth=4)),
    *row("one_hot_v2", lambda x, depth: np.array([0, 0, 1], "float32"), s(np.array(2), depth=3)),
    *row("shard_index", lambda x, **_: x, s(ints(0, 1), index_num=20, nshards=2, shard_id=0)),
    *row("multiplex", lambda xs, index: np.zeros((0, 2)), s([v(0, 2), v(0, 2)], np.zeros((0, 1), "int64")),
         grads="xs"),
    # -- reductions
    *row("reduce_min", lambda x, axis: np.zeros((0,)), s(NONE, axis=[1]), grads="x"),
    *row("reduce_max", lambda x, axis: np.zeros((0,)), s(NONE, axis=[1]), grads="x"),
    *row("reduce_amin", lambda x, axis: np.zeros((0,)), s(NONE, axis=[1]), grads="x"),
    *row("reduce_expand", lambda x, like, shape, axis: np.zeros((0, 3)),
         s(v(3), None, shape=[0, 3], axis=[0]), grads="x"),
    *row("arg_max", lambda x, axis: np.zeros((0,), "int64"), s(NONE, axis=1)),
    *row("arg_min", lambda x, axis: np.zeros((0,), "int64"), s(NONE, axis=1)),
    *row("arg_max", lambda x, flatten: np.zeros((), "int64"), s(v(), flatten=True)),
    *row("arg_min", lambda x, flatten: np.zeros((), "int64"), s(v(), flatten=True)),
    *row("top_k_v2", lambda x, k: [np.zeros((0, 2)), np.zeros((0, 2), "int64")], s(NONE, k=2), grads="x",
         through=(0,)),
    *row("kthvalue", lambda x, k: [np.zeros((0,)), np.zeros((0,), "int64")], s(NONE, k=2), grads="x",
         through=(0,)),
    *row("mode", lambda x: [np.zeros((0,)), np.zeros((0,), "int64")], s(NONE), grads="x", through=(0,)),
    # -- elementwise
    *row("cast", lambda x, out_dtype: x.astype(out_dtype), s(v(), out_dtype="int32"),
         s(NONE, out_dtype="bool")),
    *row("clip_mask", lambda x, min: np.ones(x.shape, bool), s(NONE, min=0.5)),
    *row("sum", lambda xs: xs[0] + xs[1], s([NONE, NONE]), s([v(), v(seed=1)]), grads="xs"),
    *row("kldiv_loss", lambda x, target: np.zeros((0, 3)), s(NONE, NONE), grads="x"),
    *row("ldexp", lambda x, y: x * 2.0**y, s(NONE, ints(3)), s(v(), ints()), grads="x"),
    *row("isclose", lambda x, y: np.zeros((0, 3), bool), s(NONE, v(3))),
    *row("allclose", lambda x, y: np.array(True), s(NONE, NONE), s(v(), v())),
    *row("bce_loss", lambda x, y: -(y * np.log(x) + (1 - y) * np.log(1 - x)), s(pos(0, 3), pos(0, 3)),
         s(np.array(0.3), np.array(0.8)), grads="x"),
    *row("sigmoid_cross_entropy_with_logits", lambda x, y: np.log1p(np.exp(x)) - x * y, s(NONE, NONE),
         s(v(), np.array(0.3)), grads="x"),
    *row("dropout", lambda x, is_test: [x, np.ones(x.shape, "uint8")], s(v(), is_test=True),
         s(NONE, is_test=True), grads="x"),
    *row("addmm", lambda x, a, b: np.zeros((0, 2)), s(v(0, 2), v(0, 3), v(3, 2)), grads="input x y"),
    # -- layers with an empty batch
    *row("layer_norm", lambda x, scale, bias: [np.zeros((0, 4)), np.zeros((0,)), np.zeros((0,))],
         s(v(0, 4), v(4), v(4, seed=1)), grads="x scale bias"),
    *row("softmax_with_cross_entropy", lambda x, label: [np.zeros((0, 4)), np.zeros((0, 1))],
         s(v(0, 4), np.zeros((0, 1), "int64")), grads="logits", through=(1,)),
    *row("pick_class", lambda x, label: np.zeros((0, 1)), s(v(0, 4), np.zeros((0, 1), "int64")), grads="x")
]
