"""Writes the checkpoints of a run as an animation (GIF), or next to each other as one image (PNG)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from resources.words.languages import ENGLISH
from studio.session.checkpoints.captions import Captions
from studio.session.checkpoints.checkpoint_files import (
    LeftOut,
    StoredCheckpoint,
    first_choice,
    found_files,
    in_order,
    read_checkpoint_file,
)
from studio.session.checkpoints.checkpoints_view import measured_at, table_at
from studio.session.checkpoints.frames import frame_image, panels_of
from studio.session.checkpoints.weight_view import Range, WeightView, range_of, weight_view
from studio.session.runs.run_history import RunHistory

if TYPE_CHECKING:
    from PIL import Image

MOST_FRAMES, MOST_COLUMNS, ACROSS = 400, 60, 10
SIDE, COLUMN_SIDE = 280, 140
LAST_SECONDS = 2.0
"""The last image of an animation is shown so long before it begins again."""
_COLORS = 128

Progress = Callable[[int, int], None]
"""Called with how many parts are done, of how many."""


@dataclass(frozen=True)
class RunCheckpoints:
    """The checkpoints of a run that can be read, oldest first, and those that can't."""

    checkpoints: tuple[StoredCheckpoint, ...]
    left_out: tuple[LeftOut, ...]


def read_checkpoints(folder: Path, progress: Progress = lambda done, total: None) -> RunCheckpoints:
    """Check all checkpoints of the run in ``folder``."""
    files = found_files(str(folder))
    found: list[StoredCheckpoint] = []
    left_out: list[LeftOut] = []
    for number, file in enumerate(files):
        progress(number, len(files))
        each = read_checkpoint_file(file)
        if isinstance(each, LeftOut):
            left_out.append(each)
        elif each is not None:
            found.append(each)
    return RunCheckpoints(tuple(in_order(found)), tuple(left_out))


def chosen_layer(checkpoints: Sequence[StoredCheckpoint], layer: str) -> str:
    """The layer of that name, the first filters where it is empty.

    Raises:
        ArgumentError: the newest checkpoint has no such layer; names those that it has.
    """
    from engine.core.errors import ArgumentError

    layers = checkpoints[-1].layers
    if layer and not any(each.name == layer for each in layers):
        names = ", ".join(each.name for each in layers[:20])
        raise ArgumentError(f"layer: no layer {layer!r}; choose one of {names}")
    return layer or first_choice(layers)


def spread(checkpoints: Sequence[StoredCheckpoint], most: int) -> list[StoredCheckpoint]:
    """At most ``most`` of them, evenly spaced, with the first and the last."""
    count = len(checkpoints)
    if count <= most:
        return list(checkpoints)
    return [checkpoints[round(n * (count - 1) / (most - 1))] for n in range(most)]


def write_animation(
    out: Path,
    checkpoints: Sequence[StoredCheckpoint],
    history: RunHistory,
    layer: str = "",
    title: str = "",
    speed: float = 5.0,
    progress: Progress = lambda done, total: None,
    language: str = ENGLISH,
) -> int:
    """Write a GIF with a frame for each checkpoint, ``speed`` a second; returns how many frames it has.

    Args:
        language: of the captions, if a font of this computer can write it.

    Raises:
        ArgumentError: no such layer. DataError: a checkpoint was removed meanwhile. SaveError: it can't be
            written; an existing file is unchanged.
    """
    from engine.files.atomic import atomic_write

    chosen = spread(checkpoints, MOST_FRAMES)
    frames = _frames(chosen, history, chosen_layer(checkpoints, layer), title, progress, language)
    seconds = [1 / speed] * (len(chosen) - 1) + [max(LAST_SECONDS, 1 / speed)]

    def write(file: BinaryIO) -> None:
        reduced = (frame.quantize(_COLORS) for frame in frames)
        next(reduced).save(
            file,
            "GIF",
            save_all=True,
            append_images=reduced,
            duration=[round(1000 * each) for each in seconds],
            loop=0,
        )

    atomic_write(out, write)
    return len(chosen)


def write_strip(
    out: Path,
    checkpoints: Sequence[StoredCheckpoint],
    history: RunHistory,
    layer: str = "",
    title: str = "",
    progress: Progress = lambda done, total: None,
    language: str = ENGLISH,
) -> int:
    """Write a PNG with a column for each checkpoint, in as many rows as needed; returns how many it has.

    Raises as :func:`write_animation`.
    """
    from PIL import Image

    from engine.files.atomic import atomic_write

    chosen = spread(checkpoints, MOST_COLUMNS)
    frames = _frames(chosen, history, chosen_layer(checkpoints, layer), title, progress, language, down=True)
    sheet: Image.Image | None = None
    for number, frame in enumerate(frames):
        if sheet is None:
            wide, high = frame.size
            across = min(ACROSS, len(chosen))
            sheet = Image.new("RGB", (wide * across, high * -(-len(chosen) // across)), "white")
        line, place = divmod(number, across)
        sheet.paste(frame, (place * wide, line * high))
    assert sheet is not None
    whole = sheet
    atomic_write(out, lambda file: whole.save(file, "PNG"))
    return len(chosen)


def _frames(
    chosen: Sequence[StoredCheckpoint],
    history: RunHistory,
    layer: str,
    title: str,
    progress: Progress,
    language: str,
    down: bool = False,
) -> Iterator[Image.Image]:
    """An image for each checkpoint; all have the same parts, so that all have the same size."""
    scale, captions = Range(), Captions(language)
    for number, each in enumerate(chosen):
        progress(number, 2 * len(chosen))
        scale = scale.joined(range_of(each.weights(layer)))
    with_matrix = any(table_at(history.tables, each.step) is not None for each in chosen)
    side = COLUMN_SIDE if down else SIDE
    for number, view in enumerate(_views(chosen, layer, scale)):
        progress(len(chosen) + number, 2 * len(chosen))
        each = chosen[number]
        panels = panels_of(view, table_at(history.tables, each.step), side, down, captions.tr)
        if with_matrix and len(panels) == 2:
            panels.append((captions.tr("confusion"), panels[1][1] * 0 + 255))
        caption = caption_of(each, history, "" if down else title, down, captions.tr)
        yield frame_image(caption, panels, down, captions)


def _views(chosen: Sequence[StoredCheckpoint], layer: str, scale: Range) -> Iterator[WeightView]:
    before = None
    for each in chosen:
        values = each.weights(layer)
        fits = before is not None and before[1].shape == values.shape
        yield weight_view(layer, values, each.step, before if fits else None, scale)
        before = each.step, values


def caption_of(
    checkpoint: StoredCheckpoint,
    history: RunHistory,
    title: str,
    short: bool = False,
    tr: Callable[[str], str] = str,
) -> str:
    """Which checkpoint it is, and what was measured then or before; ``tr`` translates."""
    from resources.metrics import metric_of

    words = [title] if title else []
    words.append(tr("step {0}").format(checkpoint.step))
    measured = measured_at(history, checkpoint.step)
    metric = metric_of(history.task)
    if not short:
        words.append(tr("epoch {0}").format(checkpoint.epoch))
    if measured is not None and metric.name in measured.values:
        text = metric.named_text(measured.values[metric.name]).replace("\u2009", " ").replace("\u202f", " ")
        words.append(text if short else tr("{0} after epoch {1}").format(text, measured.epoch))
    return " \u00b7 ".join(words)
