"""SavedLabels: changes of labels, written to the file of a folder of images in the order they were made."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from studio.session.data.labelled_folder import LabelledFolder
from studio.session.project.undo import Change

if TYPE_CHECKING:
    from engine.training.sources.images.labels import LabelTable


@dataclass(eq=False)
class LabelChange:
    """Labels that are shown, and are to be written.

    Args:
        folder: of the images. labels: by file; an empty one removes the label.
        reverted: what is shown once this could not be written.

    Attributes:
        before: the labels of these files before; as the file had them, once this is being written.
        step: of the undo stack. failed: it could not be written.
    """

    folder: str
    labels: Mapping[str, str]
    before: dict[str, str]
    reverted: Callable[[LabelledFolder], LabelledFolder] | None = None
    step: Change | None = field(default=None, repr=False)
    failed: bool = False


@dataclass(frozen=True)
class SaveResult:
    """The ``changes`` that were written together: with them the file has ``labels``; or the ``error``."""

    changes: tuple[LabelChange, ...]
    labels: Mapping[str, str]
    error: Exception | None = None


class SavedLabels:
    """The labels of one folder on the disk. Labels that another program wrote meanwhile stay."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        self._waiting: deque[LabelChange] = deque()
        self._table: LabelTable | None = None
        self._read_at: tuple[int, int] | None = None

    def add(self, change: LabelChange) -> None:
        """The next ``write`` writes this, too."""
        self._waiting.append(change)

    def write(self) -> SaveResult:
        """Write all changes that wait, as one file. Only one thread may call this at a time."""
        from engine.core.errors import EngineError

        changes = []
        while self._waiting:
            changes.append(self._waiting.popleft())
        if not changes:  # written with an earlier one
            return SaveResult((), {})
        try:
            table = self._read()
            for change in changes:
                change.before.update({file: _label(table, file) for file in change.before})
                table = table.changed(change.labels)
            table.write()
            self._table, self._read_at = table, _stamp(table.path)
        except (EngineError, OSError) as error:
            return SaveResult(tuple(changes), {}, error)
        return SaveResult(tuple(changes), table.labels)

    def _read(self) -> LabelTable:
        from engine.training.sources.images.folder import images_of
        from engine.training.sources.images.labels import LabelTable, label_file, read_label_table

        path = label_file(self._folder)
        table = self._table
        if table is not None and path == table.path and _stamp(path) == self._read_at:
            return table
        if path is None:
            return LabelTable.empty(self._folder)
        return read_label_table(path, images_of(self._folder, path))


def _label(table: LabelTable, file: str) -> str:
    row = table.rows.get(file)
    return row[table.label] if row is not None else ""


def _stamp(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_mtime_ns, found.st_size
