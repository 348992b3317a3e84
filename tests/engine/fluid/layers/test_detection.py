"""Boxes of fluid.layers: against what Paddle's kernels computed, and NumPy."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine import fluid
from engine.core.errors import ArgumentError
from engine.fluid import layers
from tests.engine.fluid.layers.record_boxes import ANCHORS, DENSITY, KEEPING, VARIANCE, boxes, scores

RECORDED: dict[str, Any] = json.loads(
    Path(__file__).with_name("recorded_boxes.json").read_text(encoding="utf-8")
)
FEATURE, IMAGE = np.zeros((1, 3, 2, 3), np.float32), np.zeros((1, 3, 8, 12), np.float32)
World = Callable[..., list[Any]]


def test_the_recording_says_its_version() -> None:
    assert RECORDED["paddle"] == "2.6.2"


@pytest.mark.parametrize("number", range(len(DENSITY)))
def test_boxes_by_density(world: World, number: int) -> None:
    options = dict(DENSITY[number])
    steps = [options.pop("step_w", 0.0), options.pop("step_h", 0.0)]
    for flat in (False, True):

        def made(x: Any, image: Any, flat: bool = flat) -> Any:
            return layers.density_prior_box(
                x, image, variance=VARIANCE, steps=steps, flatten_to_2d=flat, **options
            )

        for found, expected in zip(
            world(made, (FEATURE, IMAGE)), RECORDED["density_prior_box"][number], strict=True
        ):
            wanted = np.asarray(expected)
            np.testing.assert_allclose(found, wanted.reshape(-1, 4) if flat else wanted, atol=1e-6)


@pytest.mark.parametrize("number", range(len(ANCHORS)))
def test_anchors(world: World, number: int) -> None:
    found = world(lambda x: layers.anchor_generator(x, variance=VARIANCE, **ANCHORS[number]), (FEATURE,))
    for one, expected in zip(found, RECORDED["anchor_generator"][number], strict=True):
        np.testing.assert_allclose(one, expected, atol=1e-5)


@pytest.mark.parametrize(("number", "scale"), [(0, 1), (1, 9)])
def test_overlaps(world: World, number: int, scale: int) -> None:
    given = boxes(5, 1) * np.float32(scale), boxes(4, 2) * np.float32(scale)
    (found,) = world(lambda x, y: layers.iou_similarity(x, y, scale == 1), given)
    np.testing.assert_allclose(found, RECORDED["iou_similarity"][number][0], rtol=1e-5, atol=1e-6)


def test_polygons(world: World) -> None:
    (found,) = world(layers.polygon_box_transform, (scores(2, 4, 2, 3),))
    np.testing.assert_allclose(found, RECORDED["polygon_box_transform"][0], rtol=1e-6)


@pytest.mark.parametrize("number", range(len(KEEPING)))
def test_boxes_of_one_class_suppress_each_other(number: int) -> None:
    given = np.stack([boxes(9, 3), boxes(9, 4)]), scores(2, 4, 9)
    expected = np.asarray(RECORDED["multiclass_nms"][number][0])
    with fluid.dygraph.guard():
        values = [fluid.dygraph.to_variable(a) for a in given]
        found = layers.multiclass_nms(*values, **KEEPING[number]).numpy()
    engine.enable_static()
    try:
        main = fluid.Program()
        with fluid.program_guard(main, fluid.Program()):
            x, y = layers.data("x", [9, 4]), layers.data("y", [4, 9])
            out = layers.multiclass_nms(x, y, **KEEPING[number])
        (static,) = fluid.Executor().run(main, dict(zip("xy", given, strict=True)), [out])
    finally:
        engine.disable_static()
    for one in (found, static):
        assert one.shape == expected.shape
        np.testing.assert_allclose(one, expected, atol=1e-6)


def test_boxes_are_cut_at_the_edges(world: World) -> None:
    given = np.array([[[-1, 2, 30, 7], [3, -4, 5, 50]], [[0, 1, 2, 3], [4, 5, 60, 70]]], np.float32)
    info = np.array([[16, 40, 2], [10, 20, 1]], np.float32)  # 8 x 20 and 10 x 20 before scaling
    (found,) = world(layers.box_clip, (given, info))
    assert found.tolist() == [[[0, 2, 19, 7], [3, 0, 5, 7]], [[0, 1, 2, 3], [4, 5, 19, 9]]]
    (flat,) = world(layers.box_clip, (given[0], info[:1]))
    assert flat.tolist() == found[0].tolist()


def test_focal_loss(world: World) -> None:
    x = np.linspace(-3, 3, 12, dtype=np.float32).reshape(4, 3)
    label, count = np.array([[1], [0], [3], [-1]], np.int32), np.array([2], np.int32)
    (found,) = world(lambda *v: layers.sigmoid_focal_loss(*v, gamma=1.5, alpha=0.3), (x, label, count))
    p = 1 / (1 + np.exp(-x.astype(np.float64)))
    own = label == np.arange(1, 4)
    expected = np.where(own, -0.3 * (1 - p) ** 1.5 * np.log(p), -0.7 * p**1.5 * np.log(1 - p)) / 2
    np.testing.assert_allclose(found, np.where(label == -1, 0, expected), rtol=1e-4, atol=1e-6)


def test_priors_coding_and_levels_are_those_of_vision(world: World) -> None:
    vision = engine.vision.ops

    def fluids(x: Any, image: Any, prior: Any, target: Any) -> Any:
        return [
            *layers.prior_box(x, image, [4.0], [6.0], [2.0], VARIANCE, True, steps=[4.0, 4.0]),
            layers.box_coder(prior, VARIANCE, target, "decode_center_size", axis=1),
            *layers.distribute_fpn_proposals(prior * 200.0, 2, 3, 3, 100)[0],
            layers.matrix_nms(target, target.transpose([0, 2, 1]), 0.1, 0.1, 3, 3),
        ]

    def modern(x: Any, image: Any, prior: Any, target: Any) -> Any:
        count = engine.full([1], 2, "int32")
        made = [
            *vision.prior_box(x, image, [4.0], [6.0], [2.0], VARIANCE, True, steps=[4.0, 4.0]),
            vision.box_coder(prior, VARIANCE, target, "decode_center_size", axis=1),
            *vision.distribute_fpn_proposals(prior * 200.0, 2, 3, 3, 100, True, count)[0],
            vision.matrix_nms(target, target.transpose([0, 2, 1]), 0.1, 0.1, 3, 3)[0],
        ]
        return [fluid.values.variable.as_variable(v) for v in made]

    given = FEATURE, IMAGE, boxes(2, 5), scores(2, 4, 4)
    for one, other in zip(world(fluids, given), world(modern, given), strict=True):
        assert np.array_equal(one, other)


def test_the_heads_of_ssd_and_what_they_find(main: Any) -> None:
    image = layers.data("image", [3, 32, 32])
    inputs = [layers.data(f"f{n}", [2, s, s]) for n, s in enumerate((4, 2, 1))]
    found = layers.multi_box_head(
        inputs, image, 32, 3, [[2.0], [2.0, 3.0], [2.0]], min_ratio=20, max_ratio=90, clip=True
    )
    counts = [16 * 4, 4 * 6, 4]  # a box of the smaller and of the mean size, two of each other ratio
    total = sum(counts)
    assert [tuple(v.shape) for v in found] == [(-1, total, 4), (-1, total, 3), (total, 4), (total, 4)]
    out, places = layers.detection_output(*found, score_threshold=0.0, keep_top_k=5, return_index=True)
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(main.startup)
    feed = {"image": np.zeros((1, 3, 32, 32), np.float32)}
    feed |= {f"f{n}": scores(1, 2, s, s) for n, s in enumerate((4, 2, 1))}
    loc, conf, prior, variance, kept, where = exe.run(main, feed, [*found, out, places])
    # The first box is 10 % of 32 wide around the middle of the first of 4 x 4 places.
    np.testing.assert_allclose(
        prior[0], [(4 - 1.6) / 32, (4 - 1.6) / 32, (4 + 1.6) / 32, (4 + 1.6) / 32], rtol=1e-5
    )
    ratios = range(20, 91, 70)
    np.testing.assert_allclose(prior[counts[0], 2] - prior[counts[0], 0], ratios[0] / 100, rtol=1e-5)
    assert variance[0].tolist() == pytest.approx([0.1, 0.1, 0.2, 0.2])
    share = np.exp(conf) / np.exp(conf).sum(-1, keepdims=True)
    assert kept.shape == (5, 6)
    for (label, score, *_), place in zip(kept, where.ravel(), strict=True):
        assert score == pytest.approx(share[0, int(place), int(label)], rel=1e-5)
    assert loc.shape == (1, total, 4)
    with pytest.raises(ArgumentError, match="a size for each of 2 inputs"):
        layers.multi_box_head(inputs[:2], image, 32, 3, [[2.0], [2.0]])


def test_regions_of_one_image_need_no_numbers(world: World) -> None:
    image, rois = scores(1, 8, 6, 6), np.array([[0, 0, 3, 3], [1, 2, 5, 5]], np.float32)
    vision, counts = engine.vision.ops, np.array([2], np.int32)

    def fluids(x: Any, r: Any, n: Any) -> Any:
        return [
            layers.roi_pool(x, r, 2, 2, 0.5),
            layers.roi_pool(x, r, 2, 2, 0.5, rois_num=n),
            layers.roi_align(x, r, 2, 3, 0.5, 2),
            layers.psroi_pool(x, r, 2, 1.0, 2, 2),
        ]

    def modern(x: Any, r: Any, n: Any) -> Any:
        pooled = vision.roi_pool(x, r, n, 2, 0.5)
        made = [
            pooled,
            pooled,
            vision.roi_align(x, r, n, (2, 3), 0.5, 2, False),
            vision.psroi_pool(x, r, n, 2),
        ]
        return [fluid.values.variable.as_variable(v) for v in made]

    given = image, rois, counts
    for one, other in zip(world(fluids, given), world(modern, given), strict=True):
        assert np.array_equal(one, other)
    with fluid.dygraph.guard():
        x, r = (fluid.dygraph.to_variable(v) for v in (np.concatenate([image, image]), rois))
        with pytest.raises(ArgumentError, match="several images need rois_num"):
            layers.roi_align(x, r)
        with pytest.raises(ArgumentError, match="8 channels: 3 for each"):
            layers.psroi_pool(x, r, 3, 1.0, 2, 2)


def test_a_deformable_convolution_without_offsets_is_a_convolution(main: Any) -> None:
    x = layers.data("x", [2, 5, 5])
    offset, mask = layers.data("offset", [18, 5, 5]), layers.data("mask", [9, 5, 5])
    weight = fluid.ParamAttr(name="w")
    found = [
        layers.deformable_conv(x, offset, mask, 3, 3, padding=1, param_attr=weight),
        layers.deformable_conv(x, offset, None, 3, 3, padding=1, param_attr=weight, modulated=False),
        layers.conv2d(x, 3, 3, padding=1, param_attr=weight),
    ]
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(main.startup)
    feed = {
        "x": scores(1, 2, 5, 5),
        "offset": np.zeros((1, 18, 5, 5), np.float32),
        "mask": np.full((1, 9, 5, 5), 0.5, np.float32),
    }
    masked, plain, expected = exe.run(main, feed, found)
    np.testing.assert_allclose(plain, expected, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(masked, expected * 0.5, rtol=1e-4, atol=1e-6)


def test_sizes_that_are_not_known_are_refused(main: Any) -> None:
    with pytest.raises(ArgumentError, match="height and width must be known"):
        layers.anchor_generator(layers.data("x", [1, 3, -1, 4], False), [8.0], [1.0], stride=[4, 4])
