"""vision.ops in Programs and at its edges; tests/oracle checks values and gradients."""

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError, ShapeError
from engine.vision import ops
from engine.vision.ops import yolo_box, yolo_loss

ANCHORS = [4, 5, 9, 6]
X = (np.arange(2 * 16 * 3 * 3).reshape(2, 16, 3, 3) * 0.37 % 2 - 1).astype("float32")
BOX = np.array([[[0.3, 0.4, 0.5, 0.2]], [[0.5, 0.5, 0.1, 0.1]]], "float32")
LABEL = np.array([[0], [2]], "int32")


def test_in_a_program_with_any_batch():
    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program()):
            x = paddle.static.data("x", [None, 16, 3, 3])
            box = paddle.static.data("box", [None, 1, 4])
            label = paddle.static.data("label", [None, 1], "int32")
            size = paddle.static.data("size", [None, 2], "int32")
            loss = yolo_loss(x, box, label, ANCHORS, [0, 1], 3, 0.5, 8)
            boxes, scores = yolo_box(x, size, ANCHORS, 3, 0.4, 8)
            assert list(loss.shape) == [-1]
            assert list(boxes.shape) == [-1, 18, 4]
            assert list(scores.shape) == [-1, 18, 3]
            sizes = np.array([[30, 40], [20, 20]], "int32")
            feed = {"x": X, "box": BOX, "label": LABEL, "size": sizes}
            done = paddle.static.Executor().run(feed=feed, fetch_list=[loss, boxes, scores])
    finally:
        paddle.disable_static()
    tensors = [paddle.to_tensor(value) for value in (X, BOX, LABEL, sizes)]
    wanted = yolo_loss(*tensors[:3], ANCHORS, [0, 1], 3, 0.5, 8)
    np.testing.assert_allclose(done[0], wanted.numpy(), rtol=1e-5)
    for value, wanted in zip(done[1:], yolo_box(tensors[0], tensors[3], ANCHORS, 3, 0.4, 8), strict=True):
        np.testing.assert_allclose(value, wanted.numpy(), rtol=1e-5)


def test_images_without_boxes_only_say_that_there_is_nothing():
    x = paddle.to_tensor(X)
    loss = yolo_loss(x, paddle.zeros([2, 0, 4]), paddle.zeros([2, 0], "int32"), ANCHORS, [0, 1], 3, 0.5, 8)
    confidence = X.reshape(2, 2, 8, 3, 3)[:, :, 4]
    np.testing.assert_allclose(loss.numpy(), np.log1p(np.exp(confidence)).sum((1, 2, 3)), rtol=1e-5)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"class_num": 4}, ShapeError, "2 anchors and 4 classes"),
        ({"anchors": [4, 5, 9]}, ArgumentError, r"pairs.*got \[4, 5, 9\]"),
        ({"anchor_mask": [0, 2]}, ArgumentError, "anchor_mask"),
        ({"gt_box": BOX[:, :, :3]}, ShapeError, r"gt_box float32\[2, 1, 3\]"),
        ({"gt_label": LABEL[:, 0]}, ShapeError, r"gt_label int32\[2\]"),
    ],
)
def test_inconsistent_inputs_of_yolo_loss_are_refused(change, error, message):
    given = {"x": X, "gt_box": BOX, "gt_label": LABEL, "anchors": ANCHORS, "anchor_mask": [0, 1]}
    given |= {"class_num": 3, "ignore_thresh": 0.5, "downsample_ratio": 8} | change
    for name in ("x", "gt_box", "gt_label"):
        given[name] = paddle.to_tensor(given[name])
    with pytest.raises(error, match=message):
        yolo_loss(**given)


def _none(*shape: int, dtype: str = "float32") -> paddle.Tensor:
    made = paddle.zeros(list(shape), dtype)
    made.stop_gradient = dtype != "float32"
    return made


MAPS, NO_BOXES, NO_COUNTS = paddle.ones([2, 4, 8, 8]), _none(0, 4), _none(2, dtype="int32")
DEEP = _none(4, 4, 3, 4)
NOTHING = {
    "roi_align": (lambda: ops.roi_align(MAPS, NO_BOXES, NO_COUNTS, 2), [0, 4, 2, 2]),
    "roi_pool": (lambda: ops.roi_pool(MAPS, NO_BOXES, NO_COUNTS, 2), [0, 4, 2, 2]),
    "roi_pool without maps": (lambda: ops.roi_pool(_none(2, 4, 8, 8), NO_BOXES, NO_COUNTS, 2), [0, 4, 2, 2]),
    "psroi_pool": (lambda: ops.psroi_pool(MAPS, NO_BOXES, NO_COUNTS, 2), [0, 1, 2, 2]),
    "yolo_box": (
        lambda: ops.yolo_box(_none(0, 16, 4, 4), _none(0, 2, dtype="int32"), ANCHORS, 3, 0.4, 8)[0],
        [0, 32, 4],
    ),
    "yolo_loss": (
        lambda: yolo_loss(
            _none(0, 16, 4, 4), _none(0, 3, 4), _none(0, 3, dtype="int32"), ANCHORS, [0, 1], 3, 0.5, 8
        ),
        [0],
    ),
    "prior_box": (lambda: ops.prior_box(_none(0, 3, 4, 4), _none(0, 3, 32, 32), [2.0])[0], [4, 4, 1, 4]),
    "box_coder": (lambda: ops.box_coder(paddle.ones([3, 4]), paddle.ones([3, 4]), NO_BOXES), [0, 3, 4]),
    "nms": (lambda: ops.nms(NO_BOXES, 0.5), [0]),
    "matrix_nms": (lambda: ops.matrix_nms(_none(1, 0, 4), _none(1, 2, 0), 0.1, 0.1, 10, 10)[0], [0, 6]),
    "distribute_fpn_proposals": (
        lambda: ops.distribute_fpn_proposals(NO_BOXES, 2, 5, 4, 224, rois_num=_none(1, dtype="int32"))[0][0],
        [0, 4],
    ),
    "generate_proposals": (
        lambda: ops.generate_proposals(
            _none(0, 3, 4, 4), _none(0, 12, 4, 4), _none(0, 2), DEEP, DEEP, return_rois_num=True
        )[0],
        [0, 4],
    ),
    "deform_conv2d": (
        lambda: ops.deform_conv2d(_none(0, 4, 8, 8), _none(0, 18, 6, 6), paddle.ones([2, 4, 3, 3])),
        [0, 2, 6, 6],
    ),
}


@pytest.mark.parametrize("name", NOTHING)
def test_without_images_or_boxes(name):
    call, shape = NOTHING[name]
    made = call()
    assert made.shape == shape
    if not made.stop_gradient:
        made.sum().backward()
