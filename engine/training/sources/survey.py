"""Survey: what a person wants to see of data before training: samples, balance, preparation, problems."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine.core.errors import DataError
from engine.training.data import splits_of
from engine.training.sources.images.folder import ImageRows, size_words
from engine.training.sources.images.sizes import image_sizes
from engine.training.sources.opening import open_source
from engine.training.sources.options import DataOptions
from engine.training.sources.preparing.prepared import Prepared
from engine.training.sources.rows import Rows

THUMB = 96
"""The longer side of an image that is shown, at most."""
SHOWN_COLUMNS = 24
SHOWN_STEPS, SHOWN_CURVES = 96, 4
CHUNK = 64
PLACES = 200
"""So many of the samples with a problem are named; all are counted."""
FEW = 5
MOST_HEADERS = 50_000
"""Of more images the modes are not read."""
MODE_WORDS = {
    "1": "black and white",
    "L": "grey",
    "LA": "grey, transparent",
    "P": "palette",
    "PA": "palette, transparent",
    "RGB": "red, green, blue",
    "RGBA": "transparent",
    "CMYK": "CMYK",
    "I": "grey, 32 bit",
    "I;16": "grey, 16 bit",
    "I;16B": "grey, 16 bit",
    "F": "grey, floating point",
}
_COMPARED = 5


@dataclass
class Found:
    """A problem: its kind, how many samples have it, and where the first of them are.

    Kinds: unreadable, size, converted (images of other modes than the model is fed), nan, unlabelled, alone
    (the only class that has samples), single (classes with one sample, which is in no test), few (classes
    with fewer than five training samples), absent (classes without any), shared (test samples that are
    training samples, too).
    """

    kind: str
    count: int = 0
    places: list[str] = field(default_factory=list)

    def add(self, place: str) -> None:
        self.count += 1
        if len(self.places) < PLACES:
            self.places.append(place)

    def as_plain(self) -> dict[str, Any]:
        return {"kind": self.kind, "count": self.count, "places": list(self.places)}


class Survey:
    """The data called ``name``, prepared as ``options`` ask.

    Raises:
        ArgumentError, DataError, FormatError: as ``load_data``.
    """

    def __init__(self, name: str, options: DataOptions) -> None:
        self.options = options
        self.source = open_source(name, options)
        self.splits = splits_of(self.source, 0, options, surveyed=True)

    def facts(self) -> dict[str, Any]:
        """What the data is, as plain values."""
        train, test = self.splits.train, self.splits.test
        count = len(self.splits.classes)
        return {
            "name": self.source.name,
            "kind": self.source.kind,
            "is_image": self.source.train.is_image,
            "raw": list(self.source.train.shape),
            "fed": list(self.splits.shape),
            "classes": list(self.splits.classes),
            "columns": self._column_names(),
            "spec": self.splits.spec.as_plain(),
            "train": len(train),
            "test": len(test),
            "own_split": self.source.test is not None,
            "unlabelled": self.source.unlabelled_count,
            "label_file": self.source.label_file,
            **({"targets": self._target_facts()} if self.splits.spec.task == "numbers" else {}),
            # Rows without classes all have the label 0.
            "train_balance": np.bincount(train.labels, minlength=count)[:count].tolist(),
            "test_balance": np.bincount(test.labels, minlength=count)[:count].tolist(),
        }

    def _column_names(self) -> list[str]:
        """What the shown numbers of a row of a table are called."""
        return [] if self.splits.spec.kind == "sequences" else list(self.source.columns)

    def _target_facts(self) -> list[dict[str, Any]]:
        """Of each number to predict: name, least, greatest, mean and a histogram of the training samples."""
        train = self.splits.train
        values = train.targets
        assert values is not None
        facts = []
        for name, column in zip(self.splits.spec.targets, values.T, strict=True):
            counts, edges = np.histogram(column.astype(np.float64), bins=20)
            facts.append(
                {
                    "name": name,
                    "low": float(column.min()),
                    "high": float(column.max()),
                    "mean": float(column.mean(dtype=np.float64)),
                    "counts": counts.tolist(),
                    "edges": edges.tolist(),
                }
            )
        return facts

    def _is_sound(self, value: np.ndarray) -> bool:
        """Whether no number is missing that nothing is filled in for."""
        filled = np.isnan(value) if self.splits.prepare.fill else np.zeros(value.shape, bool)
        return bool((np.isfinite(value) | filled).all())

    def samples(self, split: str, label: int, page: int, count: int) -> dict[str, Any]:
        """A drawn page of samples as they lie there.

        Args:
            split: train or test. label: only those of this class; -1 for all.
            page: another number, another page. count: how many at most.
        """
        data = self._split(split)
        members = np.flatnonzero(data.labels == label) if label >= 0 else np.arange(len(data))
        drawn = np.random.Generator(np.random.PCG64([page, label + 1])).permutation(len(members))[:count]
        rows = data.chosen[members[drawn]]
        values, broken = self._read(data.rows, rows)
        return {
            "split": split,
            "label": label,
            "page": page,
            "of": len(members),
            "labels": data.rows.labels[rows].tolist(),
            **({"targets": data.rows.targets[rows].tolist()} if data.rows.targets is not None else {}),
            "broken": broken,
            "places": [data.rows.where(int(row)) for row in rows],
            "numbers": members[drawn].tolist(),
            "values": [self._shown(value) for value in values],
        }

    def compared(self, page: int) -> dict[str, Any]:
        """The same training samples before and after the preparation and the random variation."""
        data = self.splits.train
        drawn = np.random.Generator(np.random.PCG64([page, 1])).permutation(len(data))[:_COMPARED]
        before, after, ranges = [], [], []
        for row in data.chosen[drawn]:
            values, broken = self._read(data.rows, np.asarray([row]))
            if broken[0]:
                continue
            scaled = data.prepare.scaled(values if isinstance(values, np.ndarray) else list(values))
            varied = data.vary(scaled) if data.vary is not None else scaled
            fed = data.prepare.normalized(varied)[0]
            before.append(self._shown(values[0]))
            # What normalising does shows in the numbers, not in an image.
            shown = varied[0].transpose(1, 2, 0) if data.rows.is_image else fed
            after.append(self._shown(shown))
            ranges.append([float(np.nanmin(fed)), float(np.nanmax(fed))])
        return {"before": before, "after": after, "ranges": ranges}

    def _split(self, split: str) -> Prepared:
        return self.splits.train if split == "train" else self.splits.test

    def _read(self, rows: Rows, wanted: np.ndarray) -> tuple[Any, list[bool]]:
        """The samples, and which of them can't be read (zeros stand for those)."""
        values, broken = [], []
        for row in wanted:
            try:
                value = (
                    rows.decode(int(row)) if isinstance(rows, ImageRows) else rows.read(np.array([row]))[0]
                )
            except DataError:
                value = None
            values.append(np.zeros(rows.shape, np.uint8) if value is None else value)
            broken.append(value is None)
        return values, broken

    def _shown(self, value: np.ndarray) -> np.ndarray:
        """A sample as it is sent to a window: uint8 [H, W] or [H, W, 3], small; the first numbers of a row;
        some
        steps of a sequence, [steps, values], without padding."""
        if self.splits.spec.kind == "sequences":
            steps = np.asarray(value, np.float32).reshape(self.splits.shape)
            if self.splits.spec.masked:
                steps = steps[steps[:, -1] > 0, :-1]
            return steps[:: -(-len(steps) // SHOWN_STEPS) or 1, :SHOWN_CURVES]
        if not self.source.train.is_image:
            return np.asarray(value, np.float32).reshape(-1)[:SHOWN_COLUMNS]
        return thumbnail(value)

    # ----- problems -----

    def check(self) -> Iterator[tuple[int, int, list[dict[str, Any]]]]:
        """Look at every sample once: (looked at, of so many, the problems so far) after each few of them.

        Memory: eight bytes a sample, besides what is read at once.
        """
        found = self._known_at_once()
        train, test = self.splits.train, self.splits.test
        total, done = len(train) + len(test), 0
        digests = []
        for data in (train, test):
            seen = np.zeros(len(data), np.uint64)
            for begin in range(0, len(data), CHUNK):
                rows = data.chosen[begin : begin + CHUNK]
                for place, (row, value) in enumerate(self._looked_at(data.rows, rows, found)):
                    if value is not None:
                        seen[begin + place] = _digest(value)
                        if value.dtype.kind == "f" and not self._is_sound(value):
                            found["nan"].add(data.rows.where(row))
                for other in data.rows.others:
                    _look_at_other(other, rows, seen[begin : begin + len(rows)], found["nan"])
                done += len(rows)
                yield done, total, _plain(found)
            digests.append(seen)
        known = np.unique(digests[0][digests[0] > 0])
        for index in np.flatnonzero(np.isin(digests[1], known)):
            found["shared"].add(test.rows.where(int(test.chosen[index])))
        yield total, total, _plain(found)

    def _known_at_once(self) -> dict[str, Found]:
        kinds = (
            *("unreadable", "size", "converted", "nan", "unlabelled"),
            *("alone", "single", "few", "absent", "shared"),
        )
        found = {kind: Found(kind) for kind in kinds}
        for rows in filter(None, (self.source.train, self.source.test)):
            for row in np.flatnonzero(rows.labels < 0):
                found["unlabelled"].add(rows.where(int(row)))
        for name in self.source.unlabelled:
            found["unlabelled"].add(name)
        counts = np.bincount(self.splits.train.labels, minlength=len(self.splits.classes))
        if not self.splits.classes:
            return found
        for name, count in zip(self.splits.classes, counts.tolist(), strict=True):
            if count < FEW:
                found["few" if count > 1 else "single" if count else "absent"].add(name)
        if np.count_nonzero(counts) == 1:
            found["alone"].add(self.splits.classes[int(np.argmax(counts))])
        self._add_converted(found["converted"])
        return found

    def _add_converted(self, found: Found) -> None:
        rows = [each for each in (self.source.train, self.source.test) if isinstance(each, ImageRows)]
        if 0 < sum(map(len, rows)) <= MOST_HEADERS:
            sizes = image_sizes(self.source)
            for name, mode in sizes.others if sizes is not None else ():
                found.add(f"{name} ({MODE_WORDS.get(mode, mode)})")

    def _looked_at(
        self, rows: Rows, wanted: np.ndarray, found: dict[str, Found]
    ) -> Iterator[tuple[int, np.ndarray | None]]:
        if not isinstance(rows, ImageRows):
            try:
                yield from zip(wanted.tolist(), rows.read(wanted), strict=True)
                return
            except DataError:
                pass  # one of them: each by itself
        for row in wanted.tolist():
            try:
                if isinstance(rows, ImageRows):
                    value = rows.decode(row)
                    if not self.options.resize and value.shape != rows.shape:
                        found["size"].add(f"{rows.where(row)} ({size_words(value.shape)})")
                else:
                    value = rows.read(np.asarray([row]))[0]
            except DataError:
                found["unreadable"].add(rows.where(row))
                yield row, None
            else:
                yield row, value


def _look_at_other(other: Rows, wanted: np.ndarray, seen: np.ndarray, missing: Found) -> None:
    """A further input of these samples: add its values to the digests ``seen``, and name those with NaN."""
    for place, value in enumerate(other.read(wanted)):
        seen[place] = _digest(np.frombuffer(seen[place].tobytes() + value.tobytes(), np.uint8))
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            missing.add(other.where(int(wanted[place])))


def thumbnail(value: np.ndarray) -> np.ndarray:
    """An image [H, W, C] as it is sent to a window: uint8 [H, W] or [H, W, 3], with sides of at most
    ``THUMB``."""
    from PIL import Image

    if value.dtype != np.uint8:
        low, high = min(0.0, float(np.nanmin(value))), max(1.0, float(np.nanmax(value)))
        value = np.rint(np.nan_to_num((value - low) / (high - low)) * 255).astype(np.uint8)
    flat = value[..., :3] if value.shape[2] >= 3 else value[..., 0]
    image = Image.fromarray(np.ascontiguousarray(flat))
    image.thumbnail((THUMB, THUMB))
    return np.asarray(image)


def _digest(value: np.ndarray) -> int:
    whole = hashlib.blake2b(np.ascontiguousarray(value).tobytes(), digest_size=8)
    return int.from_bytes(whole.digest(), "big") or 1


def _plain(found: dict[str, Found]) -> list[dict[str, Any]]:
    return [each.as_plain() for each in found.values() if each.count]
