"""YOLO's loss: the positions, classes and objectness of boxes.

Source: Redmon and Farhadi, YOLOv3: An Incremental Improvement.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, DTypeError, OutOfRangeError, ShapeError
from engine.core.operators.bounds import Reserved
from engine.core.operators.infer import require_floating, require_same_dtype
from engine.core.operators.opdef import op
from engine.core.values.dtype import int32
from engine.core.values.spec import Spec
from engine.ops.activations import smooth
from engine.ops.arrays import creation, shape
from engine.ops.detection.boxes import sigmoid
from engine.ops.elementwise import arithmetic
from engine.ops.reductions import reduce

_EMPTY = 1e-6  # boxes that are not wider and higher than this are ignored


def _infer(
    x: Spec,
    gt_box: Spec,
    gt_label: Spec,
    gt_score: Spec | None,
    *,
    anchors: Any,
    anchor_mask: Any,
    class_num: int,
    **_: Any,
) -> Any:
    require_floating("yolo_loss", x=x)
    require_same_dtype("yolo_loss", x=x, gt_box=gt_box)
    if x.ndim != 4 or gt_box.ndim != 3 or gt_box.shape[2] not in (-1, 4) or gt_label.ndim != 2:
        raise ShapeError(
            f"yolo_loss: x is {x}, gt_box {gt_box} and gt_label {gt_label}: they are [N, C, H, W], [N, "
            "boxes, 4] and [N, boxes]"
        )
    if gt_label.dtype.name != "int32":
        raise DTypeError(f"yolo_loss: gt_label must be int32: got {gt_label}; cast it")
    count = len(anchors) // 2
    if not anchors or len(anchors) % 2 or min(anchors) <= 0:
        raise ArgumentError(f"yolo_loss: anchors must be pairs of positive numbers: got {list(anchors)}")
    if not anchor_mask or not all(0 <= m < count for m in anchor_mask):
        raise ArgumentError(f"yolo_loss: anchor_mask {list(anchor_mask)} names anchors 0 to {count - 1}")
    channels = len(anchor_mask) * (class_num + 5)
    if class_num < 1 or x.shape[1] not in (-1, channels):
        raise ShapeError(
            f"yolo_loss: x is {x}: {len(anchor_mask)} anchors and {class_num} classes need {channels} "
            "channels; check anchor_mask and class_num"
        )
    if -1 not in x.shape[2:] and x.shape[2] != x.shape[3]:
        raise ShapeError(f"yolo_loss: x is {x}: height and width must be equal; resize the images to squares")
    others = {"gt_box": gt_box, "gt_label": gt_label, "gt_score": gt_score}
    for name, spec in others.items():
        if spec is not None and any(
            -1 not in (a, b) and a != b
            for a, b in zip(spec.shape[:2], (x.shape[0], gt_box.shape[1]), strict=True)
        ):
            raise ShapeError(
                f"yolo_loss: {name} is {spec}, x {x} and gt_box {gt_box}: samples or boxes differ"
            )
    mask = Spec((x.shape[0], len(anchor_mask), *x.shape[2:]), x.dtype)
    return x.with_shape((x.shape[0],)), mask, Spec(gt_box.shape[:2], int32)


class _Problem:
    """One batch: which boxes belong to which anchors, and the target values of x there."""

    def __init__(
        self,
        xp: Any,
        x: Any,
        gt_box: Any,
        gt_label: Any,
        gt_score: Any,
        anchors: Any,
        anchor_mask: Any,
        class_num: int,
        downsample_ratio: int,
        use_label_smooth: bool,
    ) -> None:
        n, channels, height, width = x.shape
        self.xp, self.size = xp, height
        masks = len(anchor_mask)
        fits = gt_box.ndim == 3 and gt_box.shape[::2] == (n, 4) and gt_label.shape == gt_box.shape[:2]
        if channels != masks * (class_num + 5) or height != width or not fits:
            raise ValueError("shapes do not fit")  # inference explains the error
        self.parts = x.reshape(n, masks, class_num + 5, height, width)
        self.anchors = np.asarray(anchors, np.float64).reshape(-1, 2) / (downsample_ratio * height)
        self.anchor_mask = list(anchor_mask)
        self.box = gt_box
        self.score = xp.ones(gt_box.shape[:2], x.dtype) if gt_score is None else gt_score
        self.label = gt_label
        self.high, self.low = 1.0, 0.0
        if use_label_smooth:
            self.low = min(1.0 / class_num, 1.0 / 40)
            self.high = 1.0 - self.low
        self.valid = (gt_box[:, :, 2] >= _EMPTY) & (gt_box[:, :, 3] >= _EMPTY)

    def ignored(self, ignore_thresh: float, scale: float) -> Any:
        """True where a predicted box overlaps a real one of any anchor enough."""
        xp, parts = self.xp, self.parts
        size, dtype = self.size, parts.dtype
        bias = -0.5 * (scale - 1)
        places = xp.arange(size, dtype=dtype)
        pairs = xp.asarray(self.anchors[self.anchor_mask], dtype)[None, :, :, None, None]
        x = (places + sigmoid(xp, parts[:, :, 0]) * dtype.type(scale) + dtype.type(bias)) / size
        y = (places[:, None] + sigmoid(xp, parts[:, :, 1]) * dtype.type(scale) + dtype.type(bias)) / size
        w, h = xp.exp(parts[:, :, 2]) * pairs[:, :, 0], xp.exp(parts[:, :, 3]) * pairs[:, :, 1]
        best = xp.zeros(x.shape, dtype)
        for t in range(self.box.shape[1]):
            gx, gy, gw, gh = (self.box[:, t, k][:, None, None, None] for k in range(4))
            wide = xp.minimum(x + w / 2, gx + gw / 2) - xp.maximum(x - w / 2, gx - gw / 2)
            tall = xp.minimum(y + h / 2, gy + gh / 2) - xp.maximum(y - h / 2, gy - gh / 2)
            both = xp.where((wide < 0) | (tall < 0), 0, wide * tall)
            share = both / (w * h + gw * gh - both)
            best = xp.where(self.valid[:, t][:, None, None, None], xp.maximum(best, share), best)
        return best > ignore_thresh

    def matches(self) -> Any:
        """For each real box the index in anchor_mask of its best anchor; -1 where that is not in the mask."""
        xp = self.xp
        w, h = self.box[:, :, 2, None], self.box[:, :, 3, None]
        pairs = xp.asarray(self.anchors, self.box.dtype)
        both = xp.minimum(w, pairs[:, 0]) * xp.minimum(h, pairs[:, 1])
        share = both / (w * h + pairs[:, 0] * pairs[:, 1] - both)
        best = xp.argmax(share, axis=2)
        table = np.full(len(self.anchors), -1, np.int32)
        for place, anchor in reversed(list(enumerate(self.anchor_mask))):
            table[anchor] = place
        return xp.where(self.valid, xp.asarray(table)[best], -1).astype(xp.int32)

    def boxes(self, match: Any) -> Any:
        """The real boxes that have an anchor: their indices, positions in x, and target values."""
        xp = self.xp
        sample, number = xp.nonzero(match >= 0)
        mask = match[sample, number]
        box, score = self.box[sample, number], self.score[sample, number]
        if box.size and (float(box[:, :2].min()) < 0 or float(box[:, :2].max()) >= 1):
            wrong = box[((box[:, :2] < 0) | (box[:, :2] >= 1)).any(axis=1)][0]
            raise OutOfRangeError(
                f"yolo_loss: gt_box {[float(b) for b in wrong]} has its centre outside the image; give "
                "centre x, centre y, width and height as shares, 0 to 1"
            )
        label, classes = self.label[sample, number], self.parts.shape[2] - 5
        if label.size and (int(label.min()) < 0 or int(label.max()) >= classes):
            wrong = label[(label < 0) | (label >= classes)][0]
            raise OutOfRangeError(
                f"yolo_loss: gt_label {int(wrong)} is not a class of {classes}; use 0 to {classes - 1}"
            )
        column, row = ((box[:, k] * self.size).astype(np.int64) for k in (0, 1))
        anchor = xp.asarray(self.anchors[self.anchor_mask], box.dtype)[mask]
        target = xp.stack(
            [
                box[:, 0] * self.size - column,
                box[:, 1] * self.size - row,
                xp.log(box[:, 2] / anchor[:, 0]),
                xp.log(box[:, 3] / anchor[:, 1]),
            ],
            axis=1,
        )
        wanted = xp.where(xp.arange(classes) == label[:, None], self.high, self.low)
        weight = (2 - box[:, 2] * box[:, 3]) * score
        place = (sample, mask, slice(None), row, column)
        return place, target, wanted.astype(box.dtype), weight[:, None], score[:, None]


def _cross_entropy(xp: Any, x: Any, label: Any) -> Any:
    return xp.maximum(x, 0) - x * label + xp.log1p(xp.exp(-xp.absolute(x)))


_MASKS = {"objectness_mask": "ObjectnessMask", "gt_match_mask": "GTMatchMask"}
_SLOTS = {"gt_box": "GTBox", "gt_label": "GTLabel", "gt_score": "GTScore", **_MASKS}


@op("yolov3_loss", infer=_infer, outputs=("loss", "objectness_mask", "gt_match_mask"), slots=_SLOTS)
def yolo_loss(
    xp,
    x,
    gt_box,
    gt_label,
    gt_score=None,
    *,
    anchors,
    anchor_mask,
    class_num: Reserved,
    ignore_thresh,
    downsample_ratio,
    use_label_smooth=True,
    scale_x_y=1.0,
):
    """The loss [N] of x [N, C, H, H] for real boxes [N, boxes, 4]: centre and size, as shares of the image.

    The objectness mask holds the score where an object is, 0 where none is, -1 where a predicted box is good
    enough to be ignored; the match mask holds the anchors of the real boxes.
    """
    problem = _Problem(
        xp, x, gt_box, gt_label, gt_score, anchors, anchor_mask, class_num, downsample_ratio, use_label_smooth
    )
    objectness = xp.where(problem.ignored(ignore_thresh, scale_x_y), -1, 0).astype(x.dtype)
    match = problem.matches()
    place, target, wanted, weight, score = problem.boxes(match)
    sample, mask, _, row, column = place
    objectness[sample, mask, row, column] = score[:, 0]
    here = problem.parts[place]
    each = (_cross_entropy(xp, here[:, :2], target[:, :2]) * weight).sum(axis=1)
    each += (xp.absolute(target[:, 2:] - here[:, 2:4]) * weight).sum(axis=1)
    each += (_cross_entropy(xp, here[:, 5:], wanted) * score).sum(axis=1)
    loss = xp.zeros(x.shape[0], x.dtype)
    xp.add.at(loss, sample, each.astype(x.dtype))
    confidence = problem.parts[:, :, 4]
    something = _cross_entropy(xp, confidence, 1) * objectness
    nothing = _cross_entropy(xp, confidence, 0)
    parts = xp.where(objectness > 1e-5, something, xp.where(objectness > -0.5, nothing, 0))
    return loss + parts.sum(axis=(1, 2, 3)), objectness, match


@op(
    "yolov3_loss_grad",
    infer=lambda x, *_, **__: x,
    outputs=("x_grad",),
    slots={**_SLOTS, "g_in": "Loss@GRAD", "x_grad": "X@GRAD"},
)
def _yolo_loss_grad(
    xp,
    x,
    gt_box,
    gt_label,
    g_in,
    objectness_mask,
    gt_match_mask,
    gt_score=None,
    *,
    anchors,
    anchor_mask,
    class_num: Reserved,
    downsample_ratio,
    use_label_smooth=True,
):
    """The gradient of x: that of cross entropies and distances, with the masks of the forward."""
    problem = _Problem(
        xp, x, gt_box, gt_label, gt_score, anchors, anchor_mask, class_num, downsample_ratio, use_label_smooth
    )
    place, target, wanted, weight, score = problem.boxes(gt_match_mask)
    made = xp.zeros_like(problem.parts, order="C")
    here = problem.parts[place]
    slope = xp.zeros(here.shape, x.dtype)
    slope[:, :2] = (sigmoid(xp, here[:, :2]) - target[:, :2]) * weight
    slope[:, 2:4] = xp.where(here[:, 2:4] > target[:, 2:], 1, -1) * weight
    slope[:, 5:] = (sigmoid(xp, here[:, 5:]) - wanted) * score
    xp.add.at(made, place, slope)
    confidence = sigmoid(xp, problem.parts[:, :, 4])
    made[:, :, 4] = xp.where(
        objectness_mask > 1e-5,
        (confidence - 1) * objectness_mask,
        xp.where(objectness_mask > -0.5, confidence, 0),
    )
    return (made * g_in.reshape(-1, 1, 1, 1, 1)).reshape(x.shape)


def _infer_weights(x: Spec, *_: Any, **__: Any) -> Spec:
    require_floating("yolo_loss", x=x)
    return x


@op("yolov3_loss_weights", infer=_infer_weights, slots=_SLOTS)
def _yolo_weights(
    xp,
    x,
    gt_box,
    gt_label,
    objectness_mask,
    gt_match_mask,
    gt_score=None,
    *,
    anchors,
    anchor_mask,
    class_num: Reserved,
    downsample_ratio,
):
    """The weight of each element of x in the cross entropy, a factor of its second derivative."""
    problem = _Problem(
        xp, x, gt_box, gt_label, gt_score, anchors, anchor_mask, class_num, downsample_ratio, False
    )
    place, _, _, weight, score = problem.boxes(gt_match_mask)
    made = xp.zeros(problem.parts.shape, x.dtype)
    each = xp.zeros((len(weight), problem.parts.shape[2]), x.dtype)
    each[:, :2], each[:, 5:] = weight, score
    xp.add.at(made, place, each)
    made[:, :, 4] = xp.where(objectness_mask > 1e-5, objectness_mask, xp.where(objectness_mask > -0.5, 1, 0))
    return made.reshape(x.shape)


@yolo_loss.grad_all("x")
def _rule(
    g_loss: Any,
    x: Any,
    gt_box: Any,
    gt_label: Any,
    gt_score: Any,
    objectness_mask: Any,
    gt_match_mask: Any,
    anchors: Any,
    anchor_mask: Any,
    class_num: int,
    downsample_ratio: int,
    use_label_smooth: bool,
) -> Any:
    return _yolo_loss_grad(
        x,
        gt_box,
        gt_label,
        g_loss,
        objectness_mask,
        gt_match_mask,
        gt_score,
        anchors=anchors,
        anchor_mask=anchor_mask,
        class_num=class_num,
        downsample_ratio=downsample_ratio,
        use_label_smooth=use_label_smooth,
    )


@_yolo_loss_grad.grad_all("x", "g_in")
def _second(
    g: Any,
    x: Any,
    gt_box: Any,
    gt_label: Any,
    gt_score: Any,
    g_in: Any,
    objectness_mask: Any,
    gt_match_mask: Any,
    use_label_smooth: bool,
    **attrs: Any,
) -> Any:
    weights = _yolo_weights(x, gt_box, gt_label, objectness_mask, gt_match_mask, gt_score, **attrs)
    confidence = smooth.sigmoid(x)
    bend = arithmetic.multiply(
        weights, arithmetic.multiply(confidence, arithmetic.scale(confidence, scale=-1.0, bias=1.0))
    )
    to_x = arithmetic.multiply(arithmetic.multiply(g, bend), shape.reshape(g_in, shape=[-1, 1, 1, 1]))
    once = _yolo_loss_grad(
        x,
        gt_box,
        gt_label,
        creation.fill_like(g_in, value=1.0),
        objectness_mask,
        gt_match_mask,
        gt_score,
        use_label_smooth=use_label_smooth,
        **attrs,
    )
    return to_x, reduce.sum(arithmetic.multiply(g, once), axis=[1, 2, 3])
