"""Which arrays of a file are the inputs and the labels of its splits: found by their names, or as chosen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from engine.core.errors import DataError

INPUTS = ("x", "images", "image", "imgs", "data", "inputs", "input", "features", "pictures", "samples")
LABELS = ("y", "labels", "label", "targets", "target", "classes", "class", "t")
LENGTHS = ("lengths", "length", "len", "lens", "seq_len", "seq_lens", "seq_length", "seq_lengths", "steps")
_SPLITS = {"train": "train", "training": "train", "test": "test", "testing": "test"}
_LATER = {"val": "test", "valid": "test", "validation": "test"}
_SHOWN = 12


@dataclass(frozen=True)
class FoundArrays:
    """The names of the arrays: training inputs and labels, and those of the test where there are any."""

    train: tuple[str, str]
    test: tuple[str, str] | None


def find_arrays(
    where: str, arrays: Mapping[str, tuple[int, ...]], input_name: str = "", label_name: str = ""
) -> FoundArrays:
    """Find inputs and labels among arrays of these shapes.

    ``x`` and ``y``, ``images`` and ``labels`` and the like, each also with ``train`` and ``test`` (or
    ``val``) added, as in ``x_train`` and ``test/labels``. Two arrays of other names are distinguished
    by their dimensions.

    Raises:
        DataError: not found; says which arrays there are and how to choose.
    """
    for wanted in filter(None, (input_name, label_name)):
        if wanted not in arrays and not any(_base(name)[0] == wanted.lower() for name in arrays):
            raise DataError(f"{where}: there is no array {wanted!r}: {_listed(arrays)}; choose one of these")
    for splits in (_SPLITS, {**_SPLITS, **_LATER}):
        inputs = _by_split(arrays, splits, input_name, INPUTS)
        labels = _by_split(arrays, splits, label_name, LABELS)
        pairs = {split: (inputs[split], labels[split]) for split in inputs if split in labels}
        if "train" in pairs and "test" in pairs:
            return FoundArrays(pairs["train"], pairs["test"])
    for split in ("", "train"):
        if split in pairs:
            return FoundArrays(pairs[split], None)
    arrays = {name: shape for name, shape in arrays.items() if _base(name)[0] not in LENGTHS}
    if len(arrays) == 2 and not input_name and not label_name:
        first, second = sorted(arrays, key=lambda name: -len(arrays[name]))
        if len(arrays[first]) > len(arrays[second]):
            return FoundArrays((first, second), None)
    raise DataError(
        f"{where}: which array holds the inputs, and which the labels? There are {_listed(arrays)}; "
        "choose them "
        "with input_name and label_name"
    )


def find_lengths(arrays: Mapping[str, tuple[int, ...]], found: FoundArrays) -> tuple[str | None, str | None]:
    """The arrays with the lengths of the sequences of both splits, such as ``lengths_train``; else None."""
    by_split: dict[str, str] = {}
    for name, shape in arrays.items():
        split = _base(name)[1]
        if len(shape) <= 2 and is_lengths_name(name):
            by_split.setdefault(split, name)
    train = by_split.get("train", by_split.get(""))
    return train, by_split.get("test") if found.test is not None else None


def array_called(arrays: Iterable[str], name: str) -> str | None:
    """The array of this name, or that of a split: of the test first, as ``image_test`` for ``image``."""
    found = list(arrays)
    if name in found:
        return name
    by_split = {_base(each)[1]: each for each in found if _base(each)[0] == _base(name)[0]}
    return next((by_split[split] for split in ("test", "", "train") if split in by_split), None)


def is_inputs_name(name: str) -> bool:
    """Whether an array of this name usually holds inputs."""
    return _base(name)[0] in INPUTS


def is_labels_name(name: str) -> bool:
    """Whether an array of this name usually holds labels, or numbers to predict."""
    return _base(name)[0] in LABELS


def is_lengths_name(name: str) -> bool:
    """Whether an array of this name holds the lengths of sequences."""
    base = _base(name)[0]
    of_inputs = base.partition("_")
    return base in LENGTHS or (of_inputs[0] in INPUTS and of_inputs[2] in LENGTHS)


def _by_split(
    arrays: Mapping[str, tuple[int, ...]], splits: Mapping[str, str], chosen: str, usual: tuple[str, ...]
) -> dict[str, str]:
    """The array of each split ('' where its name has none)."""
    if chosen in arrays:
        return {_base(chosen, splits)[1]: chosen}
    found: dict[str, str] = {}
    for base in (chosen.lower(),) if chosen else usual:
        for name in arrays:
            said, split = _base(name, splits)
            if said == base:
                found.setdefault(split, name)
    return found


def _base(name: str, splits: Mapping[str, str] | None = None) -> tuple[str, str]:
    """A name without the words for its split, and the split."""
    known = {**_SPLITS, **_LATER} if splits is None else splits
    parts = [part for part in re.split(r"[\W_]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()) if part]
    rest = [part for part in parts if part not in known]
    split = next((known[part] for part in parts if part in known), "")
    return "_".join(rest), split


def _listed(arrays: Mapping[str, tuple[int, ...]]) -> str:
    words = [f"{name} {list(shape)}" for name, shape in list(arrays.items())[:_SHOWN]]
    return ", ".join(words) + (f" and {len(arrays) - _SHOWN} more" if len(arrays) > _SHOWN else "") or "none"
