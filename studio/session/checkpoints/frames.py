"""The image of one checkpoint for an animation or a strip: weights, changes and confusion matrix."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from resources.color_map import ABOVE, BELOW, color_parts
from studio.session.checkpoints.captions import Captions
from studio.session.checkpoints.weight_view import Range, WeightView
from studio.session.runs.epoch_tables import EpochTable

if TYPE_CHECKING:
    from PIL import Image

Pixels = NDArray[np.uint8]
GAP, LINE = 12, 20
_GROUND, _INK, _MUTE = (255, 255, 255), (27, 31, 39), (102, 112, 133)
_BLACK, _CELL, _NAN = (0, 0, 0), (59, 91, 219), (192, 57, 43)
_MOST_CELLS = 60  # classes up to which there are lines between the cells of a matrix


def colored(values: NDArray[np.float32], scale: Range) -> Pixels:
    """Values as pixels [rows, columns, 3]: black at zero, orange above it and blue below."""
    ends = [abs(each) for each in (scale.low, scale.high) if math.isfinite(each)]
    reach = max(ends, default=0.0) or 1.0
    finite = np.nan_to_num(values.astype(np.float32), nan=0.0, posinf=0.0, neginf=0.0)[..., None]
    share = np.clip(finite / np.float32(reach), -1, 1)
    below, above = (np.array(color_parts(color), np.float32) for color in (BELOW, ABOVE))
    pixels = np.where(share < 0, below * -share, above * share)
    pixels[~np.isfinite(values)] = _NAN
    return np.asarray(pixels + 0.5, np.uint8)


def planes_image(planes: NDArray[np.float32], scale: Range, side: int) -> Pixels:
    """Planes in a grid of as equal sides as possible, ``side`` pixels wide and high."""
    image = np.full((side, side, 3), 255, np.uint8)
    count, rows, columns = planes.shape
    across = min(range(1, count + 1), key=lambda n: (max(n * (columns + 1), -(-count // n) * (rows + 1)), -n))
    lines = -(-count // across)
    gap = 2 if count > 1 else 0
    scale_by = min(
        (side - (across - 1) * gap) / (across * columns), (side - (lines - 1) * gap) / (lines * rows)
    )
    wide, high = max(1, int(columns * scale_by)), max(1, int(rows * scale_by))
    at_rows = np.arange(high) * rows // high
    at_columns = np.arange(wide) * columns // wide
    for number, plane in enumerate(planes):
        line, place = divmod(number, across)
        top, left = line * (high + gap), place * (wide + gap)
        part = colored(plane[at_rows][:, at_columns], scale)[: max(0, side - top), : max(0, side - left)]
        image[top : top + part.shape[0], left : left + part.shape[1]] = part
    return image


def bars_image(counts: tuple[int, ...], side: int) -> Pixels:
    """A distribution as bars."""
    image = np.full((side, side, 3), 255, np.uint8)
    most = max(counts, default=0)
    if most:
        edges = np.arange(len(counts) + 1) * side // len(counts)
        for count, left, right in zip(counts, edges[:-1], edges[1:], strict=True):
            image[side - round(count / most * side) :, left : max(left + 1, right - 1)] = _CELL
    return image


def matrix_image(counts: NDArray[np.uint32], side: int) -> Pixels:
    """A confusion matrix: the darker a cell, the larger its share of its row."""
    total = counts.sum(axis=1, keepdims=True).astype(np.float64)
    share = counts / np.maximum(total, 1)
    classes = len(counts)
    # Single mistakes are seen, too.
    strength = np.where(counts > 0, 0.15 + 0.85 * np.sqrt(share), 0.02)[..., None]
    cells = 255 + (np.array(_CELL) - 255) * strength
    at = np.arange(side) * classes // side
    image = np.asarray(cells[at][:, at], np.uint8)
    if classes <= _MOST_CELLS:
        lines = np.flatnonzero(np.diff(at)) + 1
        image[lines], image[:, lines] = 255, 255
    return image


def panels_of(
    view: WeightView,
    table: EpochTable | None,
    side: int,
    short: bool = False,
    tr: Callable[[str], str] = str,
) -> list[tuple[str, Pixels]]:
    """The parts of a frame with their titles, perhaps ``short``: weights, change, and the matrix where there
    is one. ``tr`` translates."""
    if view.is_images:
        shown = planes_image(view.planes, view.scale, side)
    else:
        shown = bars_image(view.distribution.counts, side)
    blank = np.full((side, side, 3), 255, np.uint8)
    changed = blank
    if view.before >= 0 and view.is_images:
        changed = planes_image(view.differences, view.difference_scale, side)
    elif view.before >= 0:
        changed = bars_image(view.difference_distribution.counts, side)
    since = tr("change")
    if not short and view.before >= 0:
        since = tr("change since step {0}").format(view.before)
    panels = [(view.layer, shown), (since, changed)]
    if table is not None:
        title = tr("after epoch {0}") if short else tr("confusion after epoch {0}")
        panels.append((title.format(table.epoch), matrix_image(table.counts, side)))
    return panels


def frame_image(
    caption: str,
    panels: list[tuple[str, Pixels]],
    down: bool = False,
    captions: Captions | None = None,
) -> Image.Image:
    """A caption above the parts, which are next to each other, or below each other."""
    from PIL import Image, ImageDraw

    side = panels[0][1].shape[0]
    count = len(panels)
    wide = side if down else count * side + (count - 1) * GAP
    high = count * (side + LINE + GAP) - GAP if down else side + LINE
    image = Image.new("RGB", (wide + 2 * GAP, high + LINE + 3 * GAP), _GROUND)
    draw, captions = ImageDraw.Draw(image), captions or Captions()

    def write(place: tuple[int, int], text: str, ink: tuple[int, int, int], most: int) -> None:
        text, font = captions.written(text), captions.font(text)
        while text and draw.textlength(text, font) > most:
            text = text[:-1]
        draw.text((place[0], place[1] - captions.lift(text)), text, ink, font)

    write((GAP, GAP), caption, _INK, wide)
    for number, (title, pixels) in enumerate(panels):
        left = GAP if down else GAP + number * (side + GAP)
        top = 2 * GAP + LINE + (number * (side + LINE + GAP) if down else 0)
        write((left, top), title, _MUTE, side)
        image.paste(Image.fromarray(pixels), (left, top + LINE))
    return image
