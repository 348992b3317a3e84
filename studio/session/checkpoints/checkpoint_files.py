"""The checkpoints of a run on disk: which there are, what they contain, and which are left out and why."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from studio.session.predict.model_choice import checkpoints_of
from studio.session.runs.journal_ends import MOST_COUNTED

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from engine.files.native.index import ContainerIndex

MOST_LAYERS = 5000
_NUMERIC = "fiub"


@dataclass(frozen=True)
class FoundFile:
    """A file that is listed: ``size`` and ``changed`` (nanoseconds) recognize its content."""

    path: str
    size: int
    changed: int

    @property
    def name(self) -> str:
        return Path(self.path).name


@dataclass(frozen=True)
class LayerName:
    """An array among the weights: its name in the network, and its shape."""

    name: str
    shape: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class StoredCheckpoint:
    """A checkpoint that can be read: the step and epoch after which it was written, and its weights.

    ``best`` says that its weights are those of the best epoch so far.
    """

    file: FoundFile
    step: int
    epoch: int
    layers: tuple[LayerName, ...]
    index: ContainerIndex
    best: bool = False

    @property
    def path(self) -> str:
        return self.file.path

    def weights(self, name: str) -> NDArray[np.float32]:
        """The weights of a layer, of which nothing else is read.

        Raises:
            DataError: the file was replaced or removed, or can't be read. KeyError: there is no such layer.
        """
        import numpy as np

        return np.asarray(self.index.read(self.index.tree["model"][name]), np.float32)


@dataclass(frozen=True)
class LeftOut:
    """A checkpoint that can't be read: the name of its file, and the reason."""

    name: str
    reason: str


def found_files(folder: str) -> list[FoundFile]:
    """The checkpoints in a run's folder: the best one, then those of steps in order."""
    found = []
    for each in sorted(checkpoints_of(folder), key=lambda each: each.step):
        try:
            stat = os.stat(each.path)
        except OSError:  # it was removed meanwhile
            continue
        found.append(FoundFile(each.path, stat.st_size, stat.st_mtime_ns))
    return found


def read_checkpoint_file(file: FoundFile) -> StoredCheckpoint | LeftOut | None:
    """Check a checkpoint and find out what it contains; None where it was removed meanwhile.

    A file that this installation did not write is first read in a child process with limits.
    """
    from engine.core.errors import AbsentError, DataError, FormatError
    from engine.files.checkpoint import index_checkpoint

    try:
        index = index_checkpoint(file.path)
    except AbsentError:
        return None
    except (DataError, FormatError) as error:
        return LeftOut(file.name, str(error))
    try:
        progress, model = index.tree["progress"], index.tree["model"]
        step, epoch = progress["step"], progress.get("epoch", 0)
        layers = tuple(_layers(model))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        words = f"not the checkpoint of a training: {type(error).__name__} at {error}"
        return LeftOut(file.name, f"{file.path}: {words}; remove it, or train again")
    if not all(type(each) is int and 0 <= each <= MOST_COUNTED for each in (step, epoch)) or not layers:
        words = "not the checkpoint of a training with weights"
        return LeftOut(file.name, f"{file.path}: {words}; remove it, or train again")
    return StoredCheckpoint(file, step, epoch, layers, index)


def _layers(model: Mapping[Any, Any]) -> Iterable[LayerName]:
    import numpy as np

    from engine.files.native.image import ArrayPlace

    for name, place in list(model.items())[:MOST_LAYERS]:
        if isinstance(name, str) and isinstance(place, ArrayPlace) and place.size:
            if np.dtype(place.dtype).kind in _NUMERIC:
                yield LayerName(name, place.shape)


def in_order(found: Iterable[StoredCheckpoint]) -> list[StoredCheckpoint]:
    """The checkpoints by step; the best one is marked, and is one of them where it is of the same step."""
    by_step: dict[int, StoredCheckpoint] = {}
    best: StoredCheckpoint | None = None
    for each in found:
        if each.file.name.startswith("best"):
            best = each
        else:
            by_step[each.step] = each
    if best is not None:
        by_step[best.step] = replace(by_step.get(best.step, best), best=True)
    return [by_step[step] for step in sorted(by_step)]


def first_choice(layers: Iterable[LayerName]) -> str:
    """The layer that is shown first: the first filters, else the first matrix, else the first of all."""
    listed = list(layers)
    for dimensions in (4, 2, 0):
        for each in listed:
            if len(each.shape) >= dimensions:
                return each.name
    return ""
