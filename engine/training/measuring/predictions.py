"""Predictions: the output of a network for each test image at an evaluation, stored in a small file next to
the journal.

``predictions/step-00000188.h5`` in a run's folder has the evaluation after that step: class, answer and
probabilities of every test image by its place in the test data, and the images read worst; where numbers
are predicted, what is true and what was predicted. Samples
themselves are found again in the data by their place. All files of a run together take at most
``MOST_BYTES``; of those that are too many the oldest go, the best epoch's last.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import AbsentError, ArgumentError, FormatError
from engine.files.atomic import make_folder
from engine.files.native.container import read_container, write_container
from engine.files.space import MEGABYTE, estimated_bytes, require_room
from engine.training.measuring.shown_samples import MOST_CURVES, MOST_STEPS, ShownSamples
from engine.training.sources.images.class_names import MOST_CLASSES

FOLDER = "predictions"
KIND = "predictions"
VERSION = 1
NUMBERS_VERSION = 2
"""The version of files with numbers; programs that know classes only refuse them."""
SAMPLES_VERSION = 3
"""The version of files with sequences or rows of tables in place of images."""
MOST_BYTES = 32 * MEGABYTE
MOST_PROBABILITIES = 2_000_000
"""Of more than so many images times classes, only the probabilities of truth and answer are stored."""
MOST_HARD_BYTES = MEGABYTE
_NAME = re.compile(r"step-(\d{8,18})\.h5")


@dataclass(frozen=True)
class Predictions:
    """One evaluation of N test images of C classes.

    ``labels`` and ``answers`` are uint32 [N], ``of_truth`` and ``of_answer`` the probabilities that the
    network gave to them, float32 [N], and ``probabilities`` those of all classes, float16 [N, C], or [0, C]
    where that would be too much. ``hardest`` are the places of the samples read worst, int64 [H], and
    ``pictures`` shows these samples as ``shown_samples`` gives them.
    """

    labels: NDArray[np.uint32]
    answers: NDArray[np.uint32]
    of_truth: NDArray[np.float32]
    of_answer: NDArray[np.float32]
    probabilities: NDArray[np.float16]
    hardest: NDArray[np.int64]
    pictures: ShownSamples

    @property
    def classes(self) -> int:
        """How many classes the network distinguishes."""
        return int(self.probabilities.shape[1])

    def confusion(self) -> NDArray[np.int64]:
        """Counts of images, int64 [C, C], by true class and answer."""
        table = np.zeros((self.classes, self.classes), np.int64)
        np.add.at(table, (self.labels, self.answers), 1)
        return table

    def cell(self, label: int, answer: int) -> NDArray[np.int64]:
        """The places of the images of class ``label`` that were taken for ``answer``, the surest mistake
        (for right ones: the least sure) first."""
        return self.matching(label, answer)

    def matching(
        self,
        label: int = -1,
        answer: int = -1,
        right: bool | None = None,
        low: float = 0.0,
        high: float = 1.0,
        order: str = "worst",
    ) -> NDArray[np.int64]:
        """The places of the samples of a class, of an answer, read right or wrong, whose answer has a
        probability in [low, high]; -1 and None for any. A probability that is not a number is in no range but
        the whole one.

        Args:
            order: worst (the least probability of the true class first), unsure or sure (by that of the
                answer), or data (as in the data).

        Raises:
            ArgumentError: no such order.
        """
        keys: dict[str, NDArray[Any]] = {
            "worst": self.of_truth,
            "unsure": self.of_answer,
            "sure": -self.of_answer,
            "data": np.arange(len(self.labels)),
        }
        if order not in keys:
            raise ArgumentError(f"predictions: no such order: {order!r}; use {', '.join(keys)}")
        chosen = np.ones(len(self.labels), bool)
        if label >= 0:
            chosen &= self.labels == label
        if answer >= 0:
            chosen &= self.answers == answer
        if right is not None:
            chosen &= (self.labels == self.answers) == right
        if low > 0 or high < 1:
            # As float32, so that the ends of a range are in it.
            chosen &= (self.of_answer >= np.float32(low)) & (self.of_answer <= np.float32(high))
        places = np.flatnonzero(chosen)
        return places[np.argsort(keys[order][places], kind="stable")]


@dataclass(frozen=True)
class NumberPredictions:
    """One evaluation of N test samples with k numbers to predict, in their own units.

    ``targets`` and ``predicted`` are float32 [N, k]; ``hardest`` are the places of the samples with the
    largest errors, int64 [H], and ``pictures`` shows these samples, as in ``Predictions``.
    """

    targets: NDArray[np.float32]
    predicted: NDArray[np.float32]
    hardest: NDArray[np.int64]
    pictures: ShownSamples

    @classmethod
    def of(
        cls,
        targets: np.ndarray[Any, Any] | Sequence[Any],
        predicted: np.ndarray[Any, Any] | Sequence[Any],
        hardest: Sequence[int],
        pictures: ShownSamples,
    ) -> NumberPredictions:
        """Those of an evaluation; without samples where they would take too much."""
        kept = _retained(len(hardest), pictures)
        return cls(
            np.asarray(targets, np.float32),
            np.asarray(predicted, np.float32),
            np.asarray(hardest[:kept], np.int64),
            pictures[:kept],
        )

    def residuals(self) -> NDArray[np.float64]:
        """What was predicted minus what is true, [N, k]."""
        return self.predicted.astype(np.float64) - self.targets.astype(np.float64)


class Tally:
    """Collects what an evaluation finds, batch by batch."""

    def __init__(self) -> None:
        self._parts: list[tuple[np.ndarray[Any, Any], ...]] = []
        self._all: list[np.ndarray[Any, Any]] | None = []
        self._count = 0

    def add(self, labels: np.ndarray[Any, Any], logs: np.ndarray[Any, Any]) -> None:
        """Labels [n] and logarithms of the probabilities [n, C] of one batch."""
        answers, rows = logs.argmax(axis=1), np.arange(len(labels))
        self._parts.append((labels, answers, np.exp(logs[rows, labels]), np.exp(logs[rows, answers])))
        self._count += logs.size
        if self._count > MOST_PROBABILITIES:
            self._all = None
        if self._all is not None:
            self._all.append(np.exp(logs).astype(np.float16))

    def result(self, classes: int, hardest: list[int], pictures: ShownSamples) -> Predictions:
        """Everything that was added, with the places and images of those read worst."""
        labels, answers, of_truth, of_answer = (
            np.concatenate(each) for each in zip(*self._parts, strict=True)
        )
        count = _retained(len(hardest), pictures)
        return Predictions(
            labels=labels.astype(np.uint32),
            answers=answers.astype(np.uint32),
            of_truth=of_truth.astype(np.float32),
            of_answer=of_answer.astype(np.float32),
            probabilities=np.concatenate(self._all) if self._all else np.zeros((0, classes), np.float16),
            hardest=np.array(hardest[:count], np.int64),
            pictures=pictures[:count],
        )


def _retained(count: int, shown: ShownSamples) -> int:
    return count if isinstance(shown, list) or shown.nbytes <= MOST_HARD_BYTES else 0


class PredictionsFolder:
    """The files of one run. ``path`` need not exist.

    Args:
        run: the folder of the run.
    """

    def __init__(self, run: Path) -> None:
        self.path = run / FOLDER

    def entries(self) -> list[tuple[int, Path]]:
        """The files by step, oldest first."""
        try:
            names = os.listdir(self.path)
        except OSError:
            return []
        found = (_NAME.fullmatch(name) for name in names)
        return sorted((int(match[1]), self.path / match[0]) for match in found if match)

    def write(
        self,
        step: int,
        predictions: Predictions | NumberPredictions,
        best_step: int,
        most: int = MOST_BYTES,
    ) -> None:
        """Keep the evaluation after ``step``; files that are too many for ``most`` bytes go.

        Raises:
            SaveError: it could not be written; the others are unchanged.
        """
        tree = {"step": step, **vars(predictions)}
        length = estimated_bytes(tree)
        if length > most:
            return
        path = self.path / f"step-{step:08d}.h5"
        require_room(path.parent, length)
        make_folder(self.path)
        version = NUMBERS_VERSION if isinstance(predictions, NumberPredictions) else VERSION
        if isinstance(predictions.pictures, list) or predictions.pictures.dtype != np.uint8:
            version = SAMPLES_VERSION
        write_container(path, KIND, version, tree)
        self._thin(step, best_step, most)

    def _thin(self, newest: int, best: int, most: int) -> None:
        sizes = {entry: entry[1].stat().st_size for entry in self.entries()}
        total = sum(sizes.values())
        for entry in sorted(sizes, key=lambda entry: (entry[0] == best, entry[0])):
            if total <= most or entry[0] == newest:
                break
            entry[1].unlink(missing_ok=True)
            total -= sizes[entry]

    def remove_after(self, step: int) -> None:
        """Remove those of later steps: they will be written again. Raises OSError."""
        for each, path in self.entries():
            if each > step:
                path.unlink(missing_ok=True)
        with suppress(OSError):
            self.path.rmdir()

    def read(self, step: int) -> Predictions | None:
        """The evaluation after ``step``; None where it is not stored, or is one of numbers.

        Raises:
            DataError: it can't be read. FormatError: it is damaged or holds something else.
        """
        found = self._read(step)
        return found if isinstance(found, Predictions) else None

    def read_numbers(self, step: int) -> NumberPredictions | None:
        """The numbers predicted after ``step``; None where they are not stored, or are classes.

        Raises as ``read``.
        """
        found = self._read(step)
        return found if isinstance(found, NumberPredictions) else None

    def _read(self, step: int) -> Predictions | NumberPredictions | None:
        path = self.path / f"step-{step:08d}.h5"
        if not path.is_file():
            return None
        try:
            tree = read_container(path, KIND, SAMPLES_VERSION)
        except AbsentError:  # the run was deleted between the two
            return None
        is_numbers = isinstance(tree, dict) and "targets" in tree
        return _checked_numbers(tree, path) if is_numbers else _checked(tree, path)


_FIELDS: dict[str, tuple[Any, int]] = {
    "labels": (np.uint32, 1),
    "answers": (np.uint32, 1),
    "of_truth": (np.float32, 1),
    "of_answer": (np.float32, 1),
    "probabilities": (np.float16, 2),
    "hardest": (np.int64, 1),
}


def _checked(tree: Any, path: Path) -> Predictions:
    """Predictions of a tree from a file, whose values are not believed."""
    try:
        _require(isinstance(tree, dict))
        arrays = {name: _array(tree[name], *kind) for name, kind in _FIELDS.items()}
        pictures = _checked_samples(tree["pictures"])
        count, classes = len(arrays["labels"]), arrays["probabilities"].shape[1]
        _require(classes <= MOST_CLASSES)
        _require(all(len(arrays[name]) == count for name in ("answers", "of_truth", "of_answer")))
        _require(len(arrays["probabilities"]) in (0, count) and len(pictures) == len(arrays["hardest"]))
        for name, most in (("labels", classes), ("answers", classes), ("hardest", count)):
            _require(not len(arrays[name]) or (arrays[name].min() >= 0 and arrays[name].max() < most))
    except (KeyError, TypeError, ArgumentError) as error:
        raise _no_predictions(path) from error
    return Predictions(**arrays, pictures=pictures)


def _checked_numbers(tree: Any, path: Path) -> NumberPredictions:
    """As ``_checked``, for numbers."""
    try:
        targets, predicted = (_array(tree[name], np.float32, 2) for name in ("targets", "predicted"))
        hardest, pictures = _array(tree["hardest"], np.int64, 1), _checked_samples(tree["pictures"])
        _require(targets.shape == predicted.shape and targets.size > 0 and len(pictures) == len(hardest))
        _require(not len(hardest) or (hardest.min() >= 0 and hardest.max() < len(targets)))
    except (KeyError, TypeError, ArgumentError) as error:
        raise _no_predictions(path) from error
    return NumberPredictions(targets, predicted, hardest, pictures)


def _checked_samples(shown: Any) -> Any:
    """As ``ShownSamples`` says. Raises ArgumentError."""
    if isinstance(shown, list):
        pairs = (pair for row in shown for pair in (row if isinstance(row, list) else [None]))
        _require(all(isinstance(pair, list) and [*map(type, pair)] == [str, str] for pair in pairs))
        return shown
    _require(isinstance(shown, np.ndarray) and (shown.size > 0 or not len(shown)))
    if shown.dtype == np.float32:
        _require(shown.ndim == 3 and shown.shape[1] <= MOST_STEPS and shown.shape[2] <= MOST_CURVES)
    else:
        _require(shown.dtype == np.uint8 and shown.ndim in (3, 4))
        _require(shown.ndim == 3 or shown.shape[3] == 3)
    return shown


def _no_predictions(path: Path) -> FormatError:
    return FormatError(
        f"{path}: it does not hold the predictions of an evaluation; remove it, or train again"
    )


def _array(value: Any, dtype: Any, dimensions: int) -> np.ndarray[Any, Any]:
    _require(isinstance(value, np.ndarray) and value.dtype == dtype and value.ndim == dimensions)
    return np.asarray(value)


def _require(holds: bool) -> None:
    if not holds:
        raise ArgumentError("predictions: not as they are written")
