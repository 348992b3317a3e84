"""LabelledFolder: the images of a folder that are being labelled, as plain values that never change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

PAGE = 60
"""Images that are shown at once."""
ALL, UNLABELLED, EXCLUDED = "all", "unlabelled", "excluded"
CLASS = "class:"
ENOUGH = 2
"""So many classes, with so many images each, can be trained."""


def are_enough(counts: Iterable[int]) -> bool:
    """Whether a training can begin with so many images of each class."""
    return sum(count >= ENOUGH for count in counts) >= ENOUGH


@dataclass(frozen=True)
class LabelledFolder:
    """The images in ``folder`` and their labels.

    Args:
        files: the names of all images, in their order.
        labels: by file; those without a label are absent.
        classes: in the order of their keys; some may have no image yet.
        excluded: files that the setting ``exclude`` names: no label is asked for.
        filter: what is shown: all, unlabelled, excluded, or ``class:`` with the name of a class.
        page: which ``PAGE`` of those is shown. selected: the files that a label is given to.
        place: the file of labels where it is not in the folder, since that can't be written.
        saving: files whose labels are not in the file of labels yet.
    """

    folder: str
    files: tuple[str, ...]
    labels: Mapping[str, str]
    classes: tuple[str, ...]
    excluded: frozenset[str] = frozenset()
    filter: str = ALL
    page: int = 0
    selected: tuple[str, ...] = ()
    place: str = ""
    saving: frozenset[str] = frozenset()

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """How many images each class has, without excluded ones."""
        return Counter(label for file, label in self.labels.items() if file not in self.excluded)

    @property
    def labelled(self) -> int:
        """How many images have a label, of ``total``."""
        return sum(self.counts.values())

    @property
    def total(self) -> int:
        """How many images are to be labelled."""
        return len(self.files) - len(self.excluded)

    @property
    def is_enough(self) -> bool:
        """Whether a training can begin with these labels."""
        return are_enough(self.counts.values())

    @cached_property
    def matching(self) -> tuple[str, ...]:
        """The files that the filter lets through."""
        return tuple(file for file in self.files if self.shows(file))

    def shows(self, file: str) -> bool:
        """Whether the filter lets a file through."""
        if self.filter == ALL:
            return True
        if file in self.excluded:
            return self.filter == EXCLUDED
        label = self.labels.get(file)
        return self.filter == (UNLABELLED if label is None else CLASS + label)

    @property
    def pages(self) -> int:
        """How many pages there are, at least one."""
        return max(1, -(-len(self.matching) // PAGE))

    @property
    def on_page(self) -> tuple[str, ...]:
        """The files that are shown."""
        return self.matching[self.page * PAGE : (self.page + 1) * PAGE]

    def waits(self, file: str) -> bool:
        """Whether a file is still to be labelled."""
        return file not in self.labels and file not in self.excluded

    def after(self, files: Sequence[str]) -> str:
        """The next file without a label behind these, from the beginning again; empty where there is none.

        Where a class or what is excluded is shown, it is the next file there.
        """
        chosen = set(files)
        last = max((place for place, file in enumerate(self.files) if file in chosen), default=-1)
        behind = (*self.files[last + 1 :], *self.files[: last + 1])
        wanted = self.waits if self.filter in (ALL, UNLABELLED) else self.shows
        return next((file for file in behind if file not in chosen and wanted(file)), "")

    def showing(self, *files: str) -> LabelledFolder:
        """The same with these files selected, on the page that has the first of them that is shown; without
        any, the page stays, as far as there is one."""
        wanted = set(files)
        place = next((place for place, file in enumerate(self.matching) if file in wanted), None)
        page = min(self.page, self.pages - 1) if place is None else place // PAGE
        moved = replace(self, page=page)
        shown = set(moved.on_page)
        return replace(moved, selected=tuple(file for file in files if file in shown))
