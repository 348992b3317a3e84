"""Corrections: labels and numbers that people set right and samples that they dropped, applied when data is
loaded.

A correction names a sample by the data that it is in and by the SHA-256 of its content as it lies there, so
that it still means that sample where the data got another order or is prepared in another way. It holds for
the training and the test split alike, and for every copy of the sample. The data itself is never written.

The file is versioned JSON::

    {"format": "model-studio corrections", "version": 1, "corrections": [
      {"data": "mnist", "sha256": "9f...", "action": "relabel", "label": 9, "was": 4,
       "split": "test", "index": 1232, "time": 1795412345.5},
      {"data": "mnist", "sha256": "03...", "action": "drop", "label": -1, "was": 7, ...}]}

``split`` and ``index`` say where it was seen; they are for people, not for finding it. A correction of
numbers to predict has the action ``value``, a ``target`` and what they ``were``, one for each number; a file
with one is of version 2::

    {"data": "/home/me/rents.csv", "sha256": "5c...", "action": "value", "label": -1, "was": 0,
     "target": [640.5], "were": [6405.0], "split": "test", "index": 17, "time": 1795412345.5}
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from engine.core.errors import ArgumentError, DataError, FormatError
from engine.files.atomic import atomic_write, make_folder
from engine.files.reading import read_error
from engine.training.config import TrainingConfig
from engine.training.data import BUILT_IN, DataSplits, load_data
from engine.training.folder.run_folder import CORRECTIONS
from engine.training.sources.options import DataOptions
from engine.training.sources.preparing.prepare import with_targets
from engine.training.sources.preparing.prepared import Prepared, prepared_by
from engine.training.sources.rows import Rows
from resources.json_documents import DocumentError, parse
from resources.regular_files import open_regular
from resources.training_events import Applied

FORMAT = "model-studio corrections"
VERSION = 2
MOST = 100_000
MOST_BYTES = 50_000_000
MOST_NUMBERS = 1000
"""So many numbers of one sample can be corrected."""
_AT_ONCE = 256
LARGEST = float(np.finfo(np.float32).max)
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Correction:
    """One sample that is relabelled, gets other numbers to predict (``target``), or is dropped.

    ``label`` is -1 unless it is relabelled; ``was`` is its label in the data, ``were`` its numbers there.
    ``time`` is in seconds since 1970.
    """

    data: str
    sha256: str
    action: Literal["relabel", "drop", "value"]
    label: int
    was: int
    split: str = "test"
    index: int = 0
    time: float = 0.0
    target: tuple[float, ...] = ()
    were: tuple[float, ...] = ()


@dataclass(frozen=True)
class RunData:
    """The data of a run as it is trained on, the content of its file of corrections, and what they did."""

    splits: DataSplits
    corrections: bytes = b""
    applied: Applied | None = None


def data_name(name: str) -> str:
    """What corrections call the data of this name: as it is if built in, else the whole path."""
    return name if name in BUILT_IN else str(Path(name).expanduser().resolve())


def sample_digest(sample: np.ndarray[Any, Any]) -> str:
    """The SHA-256 of a sample's type, shape and numbers as they lie in the data, before any preparation."""
    array = np.ascontiguousarray(sample, sample.dtype.newbyteorder("<"))
    return hashlib.sha256(f"{array.dtype.str} {array.shape} ".encode() + array.tobytes()).hexdigest()


def sample_digests(rows: Rows, indices: np.ndarray) -> list[str]:
    """The digest of each of these samples, with all of its inputs. Raises DataError."""
    found = [sample_digest(sample) for sample in rows.read(indices)]
    for other in rows.others:
        more = [sample_digest(sample) for sample in other.read(indices)]
        found = [hashlib.sha256(f"{a}{b}".encode()).hexdigest() for a, b in zip(found, more, strict=True)]
    return found


# ----- the file -----


def read_corrections(path: Path) -> tuple[list[Correction], bytes]:
    """The corrections in a file, and its content.

    Raises:
        DataError: it can't be read. FormatError: it is not such a file, or a value has no meaning.
    """
    try:
        with open_regular(path) as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as cause:
        raise read_error(path, cause, "the corrections can't be read") from cause
    return parse_corrections(data, path), data


def parse_corrections(data: bytes, path: Path) -> list[Correction]:
    """The corrections in the content of the file at ``path``. Raises FormatError."""
    if len(data) > MOST_BYTES:
        raise FormatError(f"{path}: too large for corrections: over {MOST_BYTES} bytes; choose another file")
    try:
        tree = parse(data)
    except DocumentError as error:
        raise FormatError(f"{path}: {error}; give a file of corrections") from error
    if not isinstance(tree, dict) or tree.get("format") != FORMAT:
        raise FormatError(f"{path}: no file of corrections: it does not say {FORMAT!r}; choose another one")
    if tree.get("version") not in (1, VERSION):
        raise FormatError(
            f"{path}: corrections of another version: {tree.get('version')!r:.40}, this program reads 1 and "
            f"{VERSION}; update Model Studio"
        )
    entries = tree.get("corrections")
    if not isinstance(entries, list) or len(entries) > MOST:
        raise FormatError(f"{path}: corrections: must be a list of at most {MOST}; fix or remove the file")
    return [_correction(entry, f"{path}: correction {place}") for place, entry in enumerate(entries, 1)]


def _correction(entry: Any, where: str) -> Correction:
    names = {field.name for field in fields(Correction)}
    if not isinstance(entry, dict) or not entry.keys() <= names:
        raise FormatError(f"{where}: must have the fields {', '.join(sorted(names))}: got {entry!r:.80}")
    numbers = {"label": -1, "was": 0, "index": 0}
    sound = (
        isinstance(entry.get("data"), str)
        and isinstance(entry.get("sha256"), str)
        and _DIGEST.fullmatch(entry["sha256"]) is not None
        and entry.get("action") in ("relabel", "drop", "value")
        and entry.get("split", "test") in ("train", "test")
        and all(
            type(entry.get(name, 0)) is int and entry.get(name, 0) >= least for name, least in numbers.items()
        )
        and {"label", "was"} <= entry.keys()
        and (entry["label"] == -1) == (entry["action"] != "relabel")
        and _are_numbers(entry.get("target", []))
        and _are_numbers(entry.get("were", []))
        and bool(entry.get("target")) == (entry["action"] == "value")
        and type(entry.get("time", 0.0)) in (int, float)
        and math.isfinite(entry.get("time", 0.0))
    )
    if not sound:
        raise FormatError(f"{where}: a value has no meaning: {entry!r:.200}; fix or remove it")
    numbers_of = {name: tuple(map(float, entry[name])) for name in ("target", "were") if name in entry}
    return Correction(**{**entry, **numbers_of})


def _are_numbers(values: Any) -> bool:
    """Whether it is a list of numbers that a target can have."""
    return (
        isinstance(values, list)
        and len(values) <= MOST_NUMBERS
        and all(type(value) in (int, float) and abs(value) <= LARGEST for value in values)
    )


def as_document(corrections: Iterable[Correction]) -> bytes:
    """The content of a file with these corrections."""
    entries = [asdict(each) for each in corrections]
    for entry in entries:
        for name in ("target", "were"):  # fields that version 1 does not have
            if not entry[name]:
                del entry[name]
    later = any("target" in entry or "were" in entry for entry in entries)
    tree = {"format": FORMAT, "version": VERSION if later else 1, "corrections": entries}
    return (json.dumps(tree, indent=1) + "\n").encode()


def write_corrections(path: Path, corrections: Iterable[Correction]) -> None:
    """Replace the file atomically; its folder is made. Raises SaveError."""
    data = as_document(corrections)
    make_folder(path.parent)
    atomic_write(path, lambda file: file.write(data))


# ----- applied -----


def load_run_data(config: TrainingConfig, source_folder: Path | None = None) -> RunData:
    """The data that ``config`` trains on, with its corrections.

    Args:
        source_folder: that of a run that is resumed or looked at: the run's own copy of the corrections is
            used, whatever has happened to the file since.

    Raises:
        ArgumentError, DataError: as ``load_data``. DataError, FormatError: the corrections can't be used.
    """
    splits = load_data(config.data, config.samples, DataOptions.of(config))
    if not config.corrections:
        return RunData(splits)
    path = Path(config.corrections).expanduser()
    if source_folder is not None:
        path = source_folder.parent / CORRECTIONS
    corrections, data = read_corrections(path)
    splits, applied = apply_corrections(splits, corrections, str(path))
    applied["sha256"] = hashlib.sha256(data).hexdigest()
    return RunData(splits, data, applied)


def apply_corrections(
    splits: DataSplits, corrections: Iterable[Correction], where: str = "corrections"
) -> tuple[DataSplits, Applied]:
    """The splits with those corrections that are about their data; every image is looked at once.

    Raises:
        DataError: a label that the data has no class for, numbers for classes or a class for numbers, or a
            split of which nothing would be left.
    """
    mine = {each.sha256: each for each in corrections if each.data == data_name(splits.name)}
    for each in mine.values():
        _require_fit(each, splits, where)
    found: set[str] = set()
    applied = Applied(sha256="", count=len(mine), relabelled={}, dropped={}, missing=0)
    parts: dict[str, Any] = {}
    for name, split in (("train", splits.train), ("validation", splits.validation), ("test", splits.test)):
        if split is None:
            continue
        changed, dropped = _places(split, mine, found) if mine else ({}, [])
        applied["relabelled"][name], applied["dropped"][name] = len(changed), len(dropped)
        if len(dropped) == len(split):
            raise DataError(
                f"{where}: no {name} images would be left: all {len(split)} are dropped; take some back"
            )
        parts[name] = _corrected(split, changed, dropped) if changed or dropped else split
    applied["missing"] = len(mine.keys() - found)
    targets = parts["train"].targets
    if targets is not None and applied["relabelled"]["train"]:
        # A wrong number of the training samples may have spoilt the scale of the targets.
        prepare = with_targets(splits.prepare, targets)
        parts = {name: prepared_by(part, prepare) for name, part in parts.items()} | {"prepare": prepare}
    return replace(splits, **parts), applied


def _require_fit(each: Correction, splits: DataSplits, where: str) -> None:
    """Refuse a correction that the data has no use for. Raises DataError."""
    classes, width = len(splits.classes), len(splits.spec.targets)
    numbers = splits.spec.task == "numbers"
    if each.action == "relabel" and numbers:
        problem = f"a correction names class {each.label}, and {splits.name} has numbers to predict"
    elif each.action == "relabel" and each.label >= classes:
        problem = f"{splits.name} has no class {each.label}: its classes are 0 to {classes - 1}"
    elif each.action == "value" and not numbers:
        problem = f"a correction gives numbers to predict, and {splits.name} has classes"
    elif each.action == "value" and len(each.target) != width:
        problem = f"a correction gives {len(each.target)} numbers, and {splits.name} has {width} to predict"
    else:
        return
    raise DataError(f"{where}: {problem}; take that correction back")


def _places(
    split: Prepared, mine: dict[str, Correction], found: set[str]
) -> tuple[dict[int, Correction], list[int]]:
    """Corrections of labels or numbers by place in the split, and the places that are dropped."""
    changed: dict[int, Correction] = {}
    dropped: list[int] = []
    for first in range(0, len(split), _AT_ONCE):
        digests = sample_digests(split.rows, split.chosen[first : first + _AT_ONCE])
        for place, digest in enumerate(digests, first):
            correction = mine.get(digest)
            if correction is None:
                continue
            found.add(digest)
            if correction.action == "drop":
                dropped.append(place)
            else:
                changed[place] = correction
    return changed, dropped


def _corrected(split: Prepared, changed: dict[int, Correction], dropped: list[int]) -> Prepared:
    """The split with other labels or numbers at some places, and without the dropped ones."""
    remaining = np.ones(len(split), np.bool_)
    remaining[dropped] = False
    labels = split.labels.copy()
    targets = None if split.targets is None else split.targets.copy()
    for place, correction in changed.items():
        if targets is None:
            labels[place] = correction.label
        else:
            targets[place] = correction.target
    return Prepared(
        split.rows,
        split.chosen[remaining],
        split.classes,
        split.prepare,
        split.vary,
        labels=labels[remaining],
        targets=None if targets is None else targets[remaining],
    )


def require_same(one: bytes, other: bytes) -> None:
    """Refuse processes of one training that read different corrections. Raises ArgumentError."""
    if one != other:
        raise ArgumentError("corrections: the file was changed while the training started; start it again")
