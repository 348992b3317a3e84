"""vision.ops in Programs and at its edges; tests/oracle checks values and gradients."""

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError, ShapeError
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


def test_pictures_without_boxes_only_say_that_there_is_nothing():
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
def test_what_does_not_fit(change, error, message):
    given = {"x": X, "gt_box": BOX, "gt_label": LABEL, "anchors": ANCHORS, "anchor_mask": [0, 1]}
    given |= {"class_num": 3, "ignore_thresh": 0.5, "downsample_ratio": 8} | change
    for name in ("x", "gt_box", "gt_label"):
        given[name] = paddle.to_tensor(given[name])
    with pytest.raises(error, match=message):
        yolo_loss(**given)
