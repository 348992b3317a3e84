"""Layers on LoD tensors: tags, windows and beams; values and lengths recorded with Paddle 2.6.2."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine import fluid
from engine.core.errors import ArgumentError, ShapeError
from engine.fluid import layers
from engine.nn.initializer import Assign
from tests.engine.fluid.layers.test_tagging import LOSSES, OF_EMISSION, OF_TRANSITION, PATH, RIGHT, scores


def sequences(values: Any, lengths: Any) -> Any:
    return fluid.create_lod_tensor(values, lengths, fluid.CPUPlace())


def data(name: str, values: Any, level: int = 1) -> Any:
    return fluid.data(name, [None, *values.shape[1:]], str(values.dtype), level)


def run(main: Any, feed: Any, fetch: Any) -> list[Any]:
    exe = fluid.Executor()
    exe.run(main.startup)
    return list(exe.run(main, feed, fetch, return_numpy=False))


def lod(value: Any) -> Any:
    return value.recursive_sequence_lengths()


def test_a_random_field_of_sequences(main: Any) -> None:
    emission, transition, label, _ = scores()
    rows, tags = (np.concatenate([each[0], each[1, :2]]) for each in (emission, label))
    x, y = data("x", rows), data("y", tags)
    x.stop_gradient = False
    attr = fluid.ParamAttr(name="crfw", initializer=Assign(transition))
    losses = layers.linear_chain_crf(x, y, attr)
    path, right = layers.crf_decoding(x, attr), layers.crf_decoding(x, attr, y)
    gradients = fluid.gradients([losses], [x, main.global_block().var("crfw")])
    feed = {"x": sequences(rows, [[4, 2]]), "y": sequences(tags, [[4, 2]])}
    found = run(main, feed, [losses, *gradients, path, right])
    wanted = (LOSSES[:2], [*OF_EMISSION[0], *OF_EMISSION[1][:2]], OF_TRANSITION)
    for value, recorded in zip(found[:3], wanted, strict=True):
        np.testing.assert_allclose(np.array(value), recorded, rtol=1e-5, atol=1e-6)
    for value, recorded in zip(found[3:], (PATH, RIGHT), strict=True):
        assert np.array(value).tolist() == [[n] for n in (*recorded[0], *recorded[1][:2])]
        assert lod(value) == [[4, 2]]


def test_sequences_are_compared(main: Any) -> None:
    tags = np.array([[1], [0], [1], [2], [0], [1]])
    x, y = data("x", tags), data("y", tags)
    apart, count = layers.edit_distance(x, y)
    without, _ = layers.edit_distance(x, y, False, [0])
    chunks = layers.chunk_eval(x, y, "IOB", 3)
    feed = {"x": sequences(tags, [[4, 2]]), "y": sequences(tags[::-1].copy(), [[3, 3]])}
    found = run(main, feed, [apart, count, without])
    np.testing.assert_allclose(np.array(found[0]), [[1 / 3], [1 / 3]], rtol=1e-6)
    assert np.array(found[1]).tolist() == [2]
    assert np.array(found[2]).tolist() == [[1.0], [1.0]]  # 1 1 2 and 1 2, 1 and 1 1
    feed["y"] = sequences(tags[::-1].copy(), [[4, 2]])
    found = [np.array(each).item() for each in run(main, feed, list(chunks))]
    np.testing.assert_allclose(found, [0.5, 0.4, 0.44444448, 4, 5, 2], rtol=1e-6)


def test_windows_of_images_are_sequences(main: Any) -> None:
    images = np.random.RandomState(1).randint(0, 9, (2, 1, 3, 4)).astype(np.float32)
    x, sizes = fluid.data("x", [None, 1, 3, 4]), fluid.data("sizes", [None, 2])
    whole = layers.im2sequence(x, 2, [1, 2], [1, 0, 0, 1])
    parts = layers.im2sequence(x, 2, 1, [0, 0, 1, 1], sizes, out_stride=2)
    pooled = layers.sequence_pool(whole, "sum")
    feed = {"x": images, "sizes": np.array([[6, 8], [5, 3]], np.float32)}
    found = run(main, feed, [whole, parts, pooled])
    assert [lod(found[0]), lod(found[1])] == [[[6, 6]], [[12, 6]]]
    np.testing.assert_array_equal(np.array(found[2])[0], np.array(found[0])[:6].sum(0))


PRE = np.array([[1], [2], [5], [5], [4]]), np.float32([[-0.1], [-0.2], [-0.3], [-0.05], [-0.4]])
IDS = np.array([[0, 4, 1], [0, 0, 5], [3, 2, 1], [0, 3, 5], [1, 1, 3]])
SCORES = np.float32([
    [-0.6918771266937256, -0.3155156373977661, -0.6865009069442749],
    [-0.8346256613731384, -0.018288277089595795, -0.7501443028450012],
    [-0.988861083984375, -0.7481656670570374, -0.2804439961910248],
    [-0.7892793416976929, -0.10322600603103638, -0.44789353013038635],
    [-0.9085955023765564, -0.29361414909362793, -0.28777533769607544],
])  # fmt: skip


@pytest.mark.parametrize("accumulated", [True, False])
def test_a_step_of_a_beam_search(main: Any, accumulated: bool) -> None:
    scores = SCORES if accumulated else np.exp(SCORES)
    arrays = {"pre_ids": PRE[0], "pre_scores": PRE[1], "ids": IDS, "scores": scores}
    given = [data(name, values, 2) for name, values in arrays.items()]
    chosen = layers.beam_search(*given, 2, 5, 0, accumulated, return_parent_idx=True)
    feed = {name: sequences(values, [[3, 2], [1] * 5]) for name, values in arrays.items()}
    ids, totals, parents = run(main, feed, list(chosen))
    assert np.array(ids).tolist() == [[0], [5], [5], [3]]
    assert lod(ids) == lod(totals) == [[3, 2], [0, 1, 1, 1, 1]]
    assert np.array(parents).tolist() == [1, 2, 3, 4]
    first, last = (-0.01828828, -0.28777534) if accumulated else (-0.21828836, -0.6877754)
    np.testing.assert_allclose(np.array(totals)[:, 0], [first, -0.3, -0.05, last], rtol=1e-6)


def test_equal_candidates_and_finished_sources(main: Any) -> None:
    pre, totals, scores = (data(n, each, 2) for n, each in (("p", PRE[0]), ("t", PRE[1]), ("s", SCORES)))
    three, two = (layers.beam_search(pre, totals, None, scores, n, 5, return_parent_idx=True) for n in (3, 2))
    feed = {
        "p": sequences(PRE[0][:2], [[2], [1, 1]]),
        "t": sequences(np.zeros((2, 1), np.float32), [[2], [1, 1]]),
        "s": sequences(np.full((2, 3), -0.5, np.float32), [[2], [1, 1]]),
    }
    ids, _, parents = run(main, feed, list(three))
    assert (np.array(ids).tolist(), lod(ids)) == ([[0], [1], [2]], [[2], [0, 3]])
    assert np.array(parents).tolist() == [1, 1, 1]
    lengths = [[2, 1], [1, 1, 1]]
    feed = {
        "p": sequences(np.array([[5], [5], [1]]), lengths),
        "t": sequences(np.float32([[-0.1], [-0.2], [-0.3]]), lengths),
        "s": sequences(SCORES[:3], lengths),
    }
    ids, totals, parents = run(main, feed, list(two))
    assert (np.array(ids).tolist(), lod(ids)) == ([[2], [1]], [[2, 1], [0, 0, 2]])
    np.testing.assert_allclose(np.array(totals)[:, 0], [-0.280444, -0.74816567], rtol=1e-6)
    assert np.array(parents).tolist() == [2, 2]


def test_beams_of_one_size_need_no_lengths() -> None:
    with fluid.dygraph.guard():
        pre, totals, ids, scores = map(
            fluid.dygraph.to_variable, (PRE[0][:4], PRE[1][:4], IDS[:4], SCORES[:4])
        )
        chosen, _, parents = layers.beam_search(pre, totals, ids, scores, 2, 5, return_parent_idx=True)
        # Of 4 and 0 the scores are the best; 5 has ended, and 5 has ended.
        assert chosen.numpy().tolist() == [[4], [0], [5], [5]]
        assert parents.numpy().tolist() == [0, 1, 2, 3]
        with pytest.raises(ShapeError, match="4 prefixes are not 3 for each source"):
            layers.beam_search(pre, totals, ids, scores, 3, 5)
        with pytest.raises(ArgumentError, match="ids is an array of LoD tensors with two levels"):
            layers.beam_search_decode(layers.array_write(ids, 0), layers.array_write(totals, 0), 2, 5)


def test_other_tensors_than_sequences_are_refused(main: Any) -> None:
    x = fluid.data("x", [None, 1], "int64")
    with pytest.raises(ArgumentError, match="or LoD tensors"):
        layers.edit_distance(x, x)
    with pytest.raises(ArgumentError, match=r"beam_search: .* has no lengths of sequences"):
        layers.beam_search(x, x, None, x, 2, 5)
