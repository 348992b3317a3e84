"""YOLO's boxes and loss, with its gradient."""

_BOX = "paddle.vision.ops.yolo_box({}, paddle.to_tensor([[40, 50], [33, 21]], dtype='int32'), {})"
_LOSS = """
box = paddle.to_tensor([[[0.3, 0.4, 0.5, 0.2], [0.7, 0.1, 0.2, 0.3], [{third}, 0.12, 0.25, 0.28]],
                        [[0.5, 0.5, 0.1, 0.1], [0.2, 0.9, 0.0, 0.1], [0.45, 0.55, 0.9, 0.8]]], dtype={kind!r})
label = paddle.to_tensor([[0, 1, 2], [2, 0, 1]], dtype='int32')
score = pos([2, 3], {kind!r})
anchors = [4, 5, 9, 6, 14, 20]
loss = lambda x: paddle.vision.ops.yolo_loss(x, box, label, anchors, {mask}, 3, {thresh}, 8{more})
[loss(t({shape}, {kind!r}) * 2), grad(loss, t({shape}, {kind!r}) * 2)]
"""
_ANCHORS = "[4, 5, 9, 6], 3, 0.4, 8"


def _loss(mask: str, thresh: float, more: str = "", kind: str = "float64", third: float = 0.2) -> str:
    shape = [2, 8 * len(mask.split(",")), 4, 4]
    return _LOSS.format(kind=kind, mask=mask, thresh=thresh, more=more, shape=shape, third=third)


CALLS: dict[str, str] = {
    "yolo_box": _BOX.format("t([2, 16, 3, 3])", _ANCHORS),
    "yolo_box/oblong": _BOX.format("t([2, 16, 2, 4], 'float64')", _ANCHORS),
    "yolo_box/unclipped": _BOX.format("t([2, 16, 3, 3])", _ANCHORS + ", clip_bbox=False"),
    "yolo_box/scale_x_y": _BOX.format("t([2, 16, 3, 3])", _ANCHORS + ", scale_x_y=1.2"),
    "yolo_box/iou_aware": _BOX.format(
        "t([2, 18, 3, 3])", _ANCHORS + ", iou_aware=True, iou_aware_factor=0.3"
    ),
    "yolo_loss": _loss("[0, 1, 2]", 0.7),
    "yolo_loss/single precision": _loss("[0, 1, 2]", 0.7, kind="float32"),
    "yolo_loss/some anchors": _loss("[2, 1]", 0.5),
    "yolo_loss/ignoring": _loss("[0, 2]", 0.05),
    "yolo_loss/scores": _loss("[0, 1, 2]", 0.3, ", gt_score=score"),
    "yolo_loss/without smoothing": _loss("[0, 1]", 0.3, ", use_label_smooth=False"),
    "yolo_loss/two boxes in one cell": _loss("[0, 1, 2]", 0.7, third=0.72),
    "yolo_loss/scale_x_y": _loss("[0, 1]", 0.3, ", scale_x_y=1.1"),
}
