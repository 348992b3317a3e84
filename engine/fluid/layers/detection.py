"""Boxes of detectors: priors and anchors, their coding, overlaps, selection."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError
from engine.fluid.layers.adapting import adapter, number_of
from engine.fluid.renamed.functions import functions, row
from engine.nn import functional
from engine.ops.detection import proposals
from engine.static import nn as static
from engine.tensor import creation, logic, manipulation
from engine.tensor import math as elementwise
from engine.vision import ops as vision

# fmt: off
ROWS = (
    row("prior_box", vision.prior_box,
        "input, image, min_sizes, max_sizes=None, aspect_ratios=(1.0,), variance=(0.1, 0.1, 0.2, 0.2), "
        "flip: bool = False, clip: bool = False, steps=(0.0, 0.0), offset: float = 0.5, "
        "name: str | None = None, min_max_aspect_ratios_order: bool = False",
        "Boxes [H, W, priors, 4] around each place of ``input``, and their variances; see ``vision.ops``.",
        unused="name"),
    row("box_coder", vision.box_coder,
        "prior_box, prior_box_var, target_box, code_type: str = 'encode_center_size', "
        "box_normalized: bool = True, name: str | None = None, axis: int = 0",
        "Boxes as offsets from prior boxes, or the other way round; see ``vision.ops.box_coder``.",
        unused="name"),
)
# fmt: on
globals().update(functions(ROWS, __name__))


_VARIANCE = (0.1, 0.1, 0.2, 0.2)


# -- boxes that are there before anything is seen ----------------------------------------------------------


@adapter
def density_prior_box(
    input: Any,
    image: Any,
    densities: Any = None,
    fixed_sizes: Any = None,
    fixed_ratios: Any = None,
    variance: Any = _VARIANCE,
    clip: bool = False,
    steps: Any = (0.0, 0.0),
    offset: float = 0.5,
    flatten_to_2d: bool = False,
    name: str | None = None,
) -> Any:
    """Boxes [H, W, priors, 4] around each place of ``input``, ``density`` ** 2 of each size and ratio.

    Sizes are in pixels, boxes are corners as shares of ``image``, within it. With ``flatten_to_2d`` they are
    [boxes, 4]. The variances have the same shape. Raises ArgumentError where sizes are not known.
    """
    rows, columns = _known("density_prior_box", input)
    height, width = _known("density_prior_box", image)
    step_w, step_h = steps if all(steps) else (width / columns, height / rows)
    mean = int((step_w + step_h) * 0.5)
    boxes = np.empty((rows, columns, sum(len(fixed_ratios) * n * n for n in densities), 4))
    for line, column in itertools.product(range(rows), range(columns)):
        x, y = (column + offset) * step_w, (line + offset) * step_h
        found = []
        for size, density in zip(fixed_sizes, densities, strict=True):
            shift = mean // density
            left, top = x - mean / 2 + shift / 2, y - mean / 2 + shift / 2
            for ratio in fixed_ratios:
                w, h = size * math.sqrt(ratio) / 2, size / math.sqrt(ratio) / 2
                found += [
                    (left + j * shift - w, top + i * shift - h, left + j * shift + w, top + i * shift + h)
                    for i, j in itertools.product(range(density), repeat=2)
                ]
        boxes[line, column] = found
    boxes = np.clip(boxes / [width, height, width, height], [0, 0, -np.inf, -np.inf], [np.inf, np.inf, 1, 1])
    return _with_variances(np.clip(boxes, 0, 1) if clip else boxes, variance, flatten_to_2d)


@adapter
def anchor_generator(
    input: Any,
    anchor_sizes: Any = None,
    aspect_ratios: Any = None,
    variance: Any = _VARIANCE,
    stride: Any = None,
    offset: float = 0.5,
    name: str | None = None,
) -> Any:
    """Anchors [H, W, anchors, 4] in pixels around each place of ``input``, and their variances.

    There is one for each of ``aspect_ratios`` and ``anchor_sizes``; places are ``stride`` (width, height)
    apart. Raises ArgumentError where sizes are not known.
    """
    rows, columns = _known("anchor_generator", input)
    step_w, step_h = (float(n) for n in stride)
    sizes = anchor_sizes if isinstance(anchor_sizes, (list, tuple)) else [anchor_sizes]
    ratios = aspect_ratios if isinstance(aspect_ratios, (list, tuple)) else [aspect_ratios]
    halves = []
    for ratio, size in itertools.product(ratios, sizes):
        base = math.floor(math.sqrt(step_w * step_h / ratio) + 0.5)
        w, h = size / step_w * base, size / step_h * math.floor(base * ratio + 0.5)
        halves.append((0.5 * (w - 1), 0.5 * (h - 1)))
    half = np.asarray(halves)
    x = np.arange(columns) * step_w + offset * (step_w - 1)
    y = np.arange(rows) * step_h + offset * (step_h - 1)
    middles = np.stack(np.meshgrid(x, y), axis=-1)[:, :, None, :]
    return _with_variances(np.concatenate([middles - half, middles + half], axis=-1), variance, False)


def _known(where: str, value: Any) -> tuple[int, int]:
    height, width = (int(n) for n in value.shape[2:4])
    if height < 0 or width < 0:
        raise ArgumentError(
            f"{where}: height and width must be known: got {list(value.shape)}; give them in data"
        )
    return height, width


def _with_variances(boxes: Any, variance: Any, flat: bool) -> tuple[Any, Any]:
    boxes = boxes.astype(np.float32)
    pair = boxes, np.broadcast_to(np.asarray(variance, np.float32), boxes.shape)
    first, second = (creation.assign(np.ascontiguousarray(p.reshape(-1, 4) if flat else p)) for p in pair)
    return first, second


def multi_box_head(
    inputs: Any,
    image: Any,
    base_size: float,
    num_classes: int,
    aspect_ratios: Any,
    min_ratio: Any = None,
    max_ratio: Any = None,
    min_sizes: Any = None,
    max_sizes: Any = None,
    steps: Any = None,
    step_w: Any = None,
    step_h: Any = None,
    offset: float = 0.5,
    variance: Any = _VARIANCE,
    flip: bool = True,
    clip: bool = False,
    kernel_size: int = 1,
    pad: int = 0,
    stride: int = 1,
    name: str | None = None,
    min_max_aspect_ratios_order: bool = False,
) -> Any:
    """The heads of SSD over several ``inputs``: locations [N, boxes, 4], scores, prior boxes, variances.

    Sizes are given for each input, or come from ``min_ratio`` to ``max_ratio`` percent of ``base_size``. Each
    input goes through a convolution for the locations and one for the scores of ``num_classes``; only in
    static mode. Liu et al., SSD (2016). Raises ArgumentError where sizes do not fit the inputs.
    """
    count = len(inputs)
    if min_sizes is None and max_sizes is None and count > 2:
        step = math.floor((max_ratio - min_ratio) / (count - 2))
        ratios = range(min_ratio, max_ratio + 1, step)
        min_sizes = [base_size * 0.1, *(base_size * r / 100.0 for r in ratios)]
        max_sizes = [base_size * 0.2, *(base_size * (r + step) / 100.0 for r in ratios)]
    if any(s is None or len(s) < count for s in (min_sizes, max_sizes)):
        raise ArgumentError(
            f"multi_box_head: min_sizes and max_sizes must have a size for each of {count} inputs: got "
            f"{min_sizes} and {max_sizes}; with two inputs or less give both"
        )
    wide, high = (steps, steps) if steps is not None else (step_w, step_h)
    parts: list[list[Any]] = [[], [], [], []]
    for n, value in enumerate(inputs):
        apart = [wide[n] if wide else 0.0, high[n] if high else 0.0]
        boxes, variances = vision.prior_box(
            value,
            image,
            min_sizes[n],
            max_sizes[n],
            aspect_ratios[n],
            variance,
            flip,
            clip,
            apart,
            offset,
            min_max_aspect_ratios_order,
        )
        own = int(boxes.shape[2])
        for width, into in ((4, parts[0]), (num_classes, parts[1])):
            out = static.conv2d(value, own * width, kernel_size, stride, pad)
            into.append(manipulation.reshape(manipulation.transpose(out, [0, 2, 3, 1]), [0, -1, width]))
        parts[2].append(manipulation.reshape(boxes, [-1, 4]))
        parts[3].append(manipulation.reshape(variances, [-1, 4]))
    return tuple(manipulation.concat(part, 1 if n < 2 else 0) for n, part in enumerate(parts))


# -- coding, overlaps, suppression -------------------------------------------------------------------------


@adapter
def iou_similarity(x: Any, y: Any, box_normalized: bool = True, name: str | None = None) -> Any:
    """Intersection over union of each box of ``x`` [N, 4] with each of ``y`` [M, 4]: [N, M].

    Boxes are corners; with ``box_normalized=False`` the last pixel is part of them.
    """
    extra = 0.0 if box_normalized else 1.0

    def corner(boxes: Any, n: int, axis: int) -> Any:
        return manipulation.unsqueeze(boxes[:, n], axis)

    sides = []
    for low, high in ((0, 2), (1, 3)):
        inner = elementwise.minimum(corner(x, high, 1), corner(y, high, 0)) - elementwise.maximum(
            corner(x, low, 1), corner(y, low, 0)
        )
        sides.append(functional.relu(inner + extra))
    both = sides[0] * sides[1]

    def area(boxes: Any, axis: int) -> Any:
        w, h = (corner(boxes, n + 2, axis) - corner(boxes, n, axis) + extra for n in (0, 1))
        return w * h

    return both / (area(x, 1) + area(y, 0) - both)


@adapter
def box_clip(input: Any, im_info: Any, name: str | None = None) -> Any:
    """Boxes cut at the edges of their image: ``input`` is [N, M, 4], or [M, 4] for one image.

    ``im_info`` [N, 3] has the height, width and scale of each image; boxes are those of the original size.
    """
    size = elementwise.round(im_info[:, :2] / im_info[:, 2:]) - 1.0
    limits = manipulation.unsqueeze(
        manipulation.concat([size[:, 1:], size[:, :1], size[:, 1:], size[:, :1]], 1), 1
    )
    if len(input.shape) == 2:
        limits = limits[0]
    return functional.relu(elementwise.minimum(input, limits))


@adapter
def polygon_box_transform(input: Any, name: str | None = None) -> Any:
    """``4 * column - input`` in even channels, ``4 * row - input`` in odd ones, for [N, C, H, W]."""
    channels, rows, columns = (int(n) for n in input.shape[1:])
    grid = np.stack(np.meshgrid(np.arange(columns), np.arange(rows))).astype(np.float32) * 4
    return creation.assign(np.tile(grid, (channels // 2, 1, 1))[None]) - input


@adapter
def multiclass_nms(
    bboxes: Any,
    scores: Any,
    score_threshold: float,
    nms_top_k: int,
    keep_top_k: int,
    nms_threshold: float = 0.3,
    normalized: bool = True,
    nms_eta: float = 1.0,
    background_label: int = 0,
    name: str | None = None,
) -> Any:
    """[class, score, box] of the selected boxes, [R, 6], by image and class; [[-1]] where there is none.

    ``bboxes`` is [N, M, 4], ``scores`` [N, classes, M]. Boxes of a class that overlap a better one more than
    ``nms_threshold`` go.
    """
    return _selected_boxes(
        bboxes,
        scores,
        score_threshold,
        nms_top_k,
        keep_top_k,
        nms_threshold,
        normalized,
        nms_eta,
        background_label,
    )[0]


def _selected_boxes(
    bboxes: Any,
    scores: Any,
    least: float,
    nms_top_k: int,
    keep_top_k: int,
    nms_threshold: float,
    normalized: bool,
    nms_eta: float,
    background_label: int,
) -> Any:
    return proposals.multiclass_nms(
        bboxes,
        scores,
        score_threshold=float(least),
        nms_top_k=int(nms_top_k),
        keep_top_k=int(keep_top_k),
        nms_threshold=float(nms_threshold),
        normalized=bool(normalized),
        nms_eta=float(nms_eta),
        background_label=int(background_label),
    )


@adapter
def matrix_nms(
    bboxes: Any,
    scores: Any,
    score_threshold: float,
    post_threshold: float,
    nms_top_k: int,
    keep_top_k: int,
    use_gaussian: bool = False,
    gaussian_sigma: float = 2.0,
    background_label: int = 0,
    normalized: bool = True,
    return_index: bool = False,
    name: str | None = None,
) -> Any:
    """[class, score, box] of the boxes whose reduced scores stay; see ``vision.ops.matrix_nms``."""
    out, _, places = vision.matrix_nms(
        bboxes,
        scores,
        score_threshold,
        post_threshold,
        nms_top_k,
        keep_top_k,
        use_gaussian,
        gaussian_sigma,
        background_label,
        normalized,
        return_index,
        False,
    )
    return (out, places) if return_index else out


@adapter
def detection_output(
    loc: Any,
    scores: Any,
    prior_box: Any,
    prior_box_var: Any,
    background_label: int = 0,
    nms_threshold: float = 0.3,
    nms_top_k: int = 400,
    keep_top_k: int = 200,
    score_threshold: float = 0.01,
    nms_eta: float = 1.0,
    return_index: bool = False,
) -> Any:
    """What SSD has found: ``loc`` [N, M, 4] from prior boxes, the softmax of ``scores`` [N, M, classes].

    As in ``multiclass_nms``; with ``return_index`` also the places of the boxes [R, 1].
    """
    boxes = vision.box_coder(prior_box, prior_box_var, loc, "decode_center_size")
    shares = manipulation.transpose(functional.softmax(scores), [0, 2, 1])
    out, places, _ = _selected_boxes(
        boxes, shares, score_threshold, nms_top_k, keep_top_k, nms_threshold, True, nms_eta, background_label
    )
    return (out, places) if return_index else out


@adapter
def sigmoid_focal_loss(x: Any, label: Any, fg_num: Any, gamma: float = 2.0, alpha: float = 0.25) -> Any:
    """Lin et al., Focal loss (2017), of ``x`` [N, classes]: every element on its own.

    ``label`` [N, 1] is 0 for the background, -1 for what does not count, else the class from 1 on; ``fg_num``
    [1] is the number of boxes that are not background, by which the loss is divided.
    """
    classes = creation.arange(1, int(x.shape[1]) + 1, dtype=label.dtype)
    own = elementwise.cast(logic.equal(label, classes), x.dtype)
    other = elementwise.cast(logic.not_equal(label, creation.full_like(label, -1)), x.dtype) * (1.0 - own)
    share = functional.sigmoid(x)
    positive = own * alpha * (1.0 - share) ** gamma * functional.log_sigmoid(x)
    negative = other * (1.0 - alpha) * share**gamma * functional.log_sigmoid(-x)
    return -(positive + negative) / elementwise.clip(elementwise.cast(fg_num, x.dtype), min=1.0)


@adapter
def distribute_fpn_proposals(
    fpn_rois: Any,
    min_level: int,
    max_level: int,
    refer_level: int,
    refer_scale: int,
    rois_num: Any = None,
    name: str | None = None,
) -> Any:
    """The boxes of each level of a pyramid, and where each went; with ``rois_num`` also their numbers.

    Without it they are boxes of one image.
    """
    boxes, places, numbers = vision.distribute_fpn_proposals(
        fpn_rois,
        min_level,
        max_level,
        refer_level,
        refer_scale,
        True,
        number_of(fpn_rois) if rois_num is None else rois_num,
    )
    return (boxes, places) if rois_num is None else (boxes, places, numbers)
