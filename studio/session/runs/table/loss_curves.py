"""LossCurves: the losses of runs in a few points, read from their journals when a row is visible."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from psygnal import Signal

from resources.regular_files import open_regular
from studio.session.runs.runs_folder import JOURNAL
from studio.session.work.file_thread import FileThread

POINTS = 60
MOST_CACHED = 3000
_PART, _PARTS = 16_384, 64  # of a journal that is too long to be read as a whole
_HEAD = 40  # bytes in which a line names its event
_FLOAT = rb"(-?\d[\d.eE+-]*|NaN|-?Infinity)"
_EVENT = re.compile(rb'"event": ?"(step|epoch)"')
_STEP = re.compile(rb'"step": ?(\d{1,18})')
_LOSS = re.compile(rb'"loss": ?' + _FLOAT)
_VALIDATION = re.compile(rb'"validation_loss": ?' + _FLOAT)


@dataclass(frozen=True)
class LossCurve:
    """Losses at equal distances of steps, NaN where there is none; ``problem`` says why there are none."""

    training: tuple[float, ...] = ()
    validation: tuple[float, ...] = ()
    problem: str = ""


_Mark = tuple[int, int]


class LossCurves:
    """Curves by folder; ``changed`` follows each that was read. A journal that has not changed is not read
    again."""

    changed: ClassVar = Signal()

    def __init__(self, reading: FileThread) -> None:
        self._reading = reading
        self._known: dict[str, tuple[_Mark, LossCurve]] = {}

    def of(self, folder: str) -> LossCurve | None:
        """The curve of a run; None for one that has not been read."""
        found = self._known.get(folder)
        return None if found is None else found[1]

    def request(self, folders: Iterable[str]) -> None:
        """Read the curves of these runs, in the thread for files; replaces a request that has not begun."""
        wanted = list(folders)
        marks = {folder: self._known[folder][0] for folder in wanted if folder in self._known}
        if wanted:
            self._reading.do(lambda: _read_changed(wanted, marks), self._take, "loss curves")

    def _take(self, found: dict[str, tuple[_Mark, LossCurve]]) -> None:
        if found:
            self._known.update(found)
            for folder in list(self._known)[: max(0, len(self._known) - MOST_CACHED)]:
                del self._known[folder]
            self.changed.emit()


def _read_changed(folders: Sequence[str], marks: dict[str, _Mark]) -> dict[str, tuple[_Mark, LossCurve]]:
    found: dict[str, tuple[_Mark, LossCurve]] = {}
    for folder in folders:
        try:
            stat = os.stat(os.path.join(folder, JOURNAL))
            mark = stat.st_mtime_ns, stat.st_size
        except (OSError, ValueError) as error:
            mark = 0, 0
            curve = LossCurve(problem=f"{JOURNAL}: not read: {getattr(error, 'strerror', None) or error}")
        else:
            if marks.get(folder) == mark:
                continue
            curve = read_loss_curve(Path(folder))
        if marks.get(folder) != mark:
            found[folder] = mark, curve
    return found


def read_loss_curve(folder: Path) -> LossCurve:
    """The losses of a run in a few points; of a long journal from parts at equal distances."""
    try:
        text = _sampled(folder / JOURNAL)
    except (OSError, ValueError) as error:
        return LossCurve(problem=f"{JOURNAL}: not read: {getattr(error, 'strerror', None) or error}")
    training: dict[int, float] = {}
    validation: dict[int, float] = {}
    for line in text.split(b"\n"):
        event = _EVENT.search(line, 0, _HEAD)
        if event is None:
            continue
        is_step = event[1] == b"step"
        step, loss = _STEP.search(line), (_LOSS if is_step else _VALIDATION).search(line)
        if step is not None and loss is not None:
            (training if is_step else validation)[int(step[1])] = _float(loss[1])
    steps = [*training, *validation]
    if not steps:
        return LossCurve()
    first, last = min(steps), max(steps)
    return LossCurve(_spread(training, first, last), _spread(validation, first, last))


def _sampled(path: Path) -> bytes:
    with open_regular(path) as file:
        size = file.seek(0, 2)
        file.seek(0)
        if size <= _PART * _PARTS:
            return file.read(_PART * _PARTS)
        parts = []
        for place in range(_PARTS):
            file.seek((size - _PART) * place // (_PARTS - 1))
            parts.append(file.read(_PART).partition(b"\n")[2].rpartition(b"\n")[0])
        return b"\n".join(parts)


def _float(text: bytes) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _spread(points: dict[int, float], first: int, last: int) -> tuple[float, ...]:
    """Means of the finite values in equal parts of the steps from ``first`` to ``last``."""
    if not points:
        return ()
    sums, counts = [0.0] * POINTS, [0] * POINTS
    for step, value in points.items():
        if math.isfinite(value):
            place = (step - first) * (POINTS - 1) // max(last - first, 1)
            sums[place] += value
            counts[place] += 1
    return tuple(total / count if count else math.nan for total, count in zip(sums, counts, strict=True))
