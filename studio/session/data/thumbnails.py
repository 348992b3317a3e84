"""The images of a folder that is labelled: names, labels and thumbnails, as the child process reads them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from studio.session.data.labelled_folder import are_enough

AT_ONCE = 8
"""Images that are read between two looks for requests."""


def images_to_label(name: str) -> tuple[Path, dict[str, Any]]:
    """The folder of that name, and its images with their labels as plain values.

    Raises:
        DataError: the labels can't be read, or are in a folder that can't be written.
    """
    from engine.core.errors import DataError
    from engine.training.sources.images.folder import images_of
    from engine.training.sources.images.labels import (
        LabelTable,
        label_file,
        ordered_classes,
        read_label_table,
    )

    folder = Path(name).expanduser()
    path = label_file(folder)
    files = images_of(folder, path)
    if path is not None and not (os.access(path.parent, os.W_OK) and os.access(path, os.W_OK)):
        raise DataError(
            f"data: {folder}: labels can't be saved in {path.name}: the folder is "
            "read-only; copy it to a folder that you may write to, and open the copy; Predict takes images "
            "without labels"
        )
    table = read_label_table(path, files) if path is not None else LabelTable.empty(folder)
    labels = table.labels
    return folder, {
        "folder": str(folder),
        "files": files,
        "labels": [labels.get(file, "") for file in files],
        "classes": list(ordered_classes(folder, labels)),
        "place": "" if table.path.parent == folder else str(table.path),
    }


def needs_labels(name: str, exclude: Sequence[str]) -> bool:
    """Whether the data is a folder of images whose file of labels has too few for a training.

    Raises:
        DataError: the labels can't be read.
    """
    from engine.training.sources.images.folder import images_of, is_excluded, labelled_by
    from engine.training.sources.images.labels import read_label_table

    folder = Path(name).expanduser()
    path = labelled_by(folder) if folder.is_dir() else None
    if path is None or not (files := images_of(folder, path)):
        return False
    labels = read_label_table(path, files).labels
    counts = Counter(label for file, label in labels.items() if not is_excluded(file, exclude))
    return not are_enough(counts.values())


class ThumbnailReader:
    """Reads ``files`` of a folder a few at a time; ``waiting`` are those that are asked for."""

    def __init__(self, folder: Path, files: Sequence[str]) -> None:
        self._folder, self._files = folder, frozenset(files)
        self.waiting: list[str] = []

    def ask(self, files: Sequence[str]) -> None:
        """Read these next, instead of those that wait."""
        # The listed images only: a request leads to no other folder.
        self.waiting = [file for file in files if file in self._files]

    def read(self) -> tuple[list[str], list[Any]]:
        """The next few files, and their images, None for one that can't be read."""
        from engine.core.errors import DataError
        from engine.training.sources.images.folder import decode_image
        from engine.training.sources.survey import THUMB, thumbnail

        files, self.waiting = self.waiting[:AT_ONCE], self.waiting[AT_ONCE:]
        values: list[Any] = []
        for file in files:
            try:
                values.append(thumbnail(decode_image(self._folder / file, grey=False, resize=THUMB)))
            except DataError:
                values.append(None)
        return files, values
