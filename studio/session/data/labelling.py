"""Labelling: gives the images of a folder their classes, which are saved in the folder, or elsewhere where
that is
read-only, at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from psygnal import Signal, SignalGroupDescriptor

from studio.session import commands
from studio.session.command import Command
from studio.session.data.data_view import DataViewModel, ThumbnailPage, UnlabelledFolder
from studio.session.data.excluded_files import with_files, without_files
from studio.session.data.labelled_folder import CLASS, LabelledFolder
from studio.session.problem_view import ProblemView, problem_from_message
from studio.session.project.undo import Change

if TYPE_CHECKING:
    from engine.training.sources.image_labels import LabelTable
    from studio.session.data.dataset_browser import DatasetBrowser
    from studio.session.train.next_run import NextRun

MOST_THUMBNAILS = 600
"""Images that are retained, so that turning back a page shows them at once."""


@dataclass
class LabellingViewModel:
    """What is being labelled; None where nothing is."""

    folder: LabelledFolder | None = None

    events: ClassVar[SignalGroupDescriptor] = SignalGroupDescriptor()


class Labelling:
    """Labels of the images that the page Data shows, with undo. Every label is on the disk when it shows.

    Args:
        state: the settings of the next run and the undo stack.
        data: says which folder is open. browser: sends thumbnails.
        report: receives a problem.
    """

    thumbnails_changed = Signal(object)

    def __init__(
        self,
        state: NextRun,
        data: DataViewModel,
        browser: DatasetBrowser,
        report: Callable[[ProblemView], None],
    ) -> None:
        self.view: LabellingViewModel = LabellingViewModel()
        self.thumbnails: dict[str, Any] = {}
        self._state, self._data, self._browser, self._report = state, data, browser, report
        self._table: LabelTable | None = None
        self._read_at: tuple[int, int] | None = None
        self._asked: frozenset[str] = frozenset()
        data.events.unlabelled.connect(self._opened)
        data.events.thumbnails.connect(self._take_thumbnails)
        state.train.events.settings.connect(lambda _: self._exclude_again())

    def handlers(self) -> dict[Command, Callable[[], None]]:
        """The commands about labels, each with what carries it out."""
        return {
            commands.LABEL_IMAGES: self.begin,
            commands.NEXT_UNLABELLED: self.next_unlabelled,
            commands.EXCLUDE_IMAGES: self.exclude,
            commands.FINISH_LABELLING: self.finish,
        }

    # ----- what is shown -----

    def _opened(self, found: UnlabelledFolder | None) -> None:
        self._table, self._read_at, self._asked = None, None, frozenset()
        self.thumbnails.clear()
        if found is None:
            self.view.folder = None
            return
        labels = {file: label for file, label in zip(found.files, found.labels, strict=True) if label}
        folder = LabelledFolder(found.folder, found.files, labels, found.classes, place=found.place)
        folder = replace(folder, excluded=self._excluded(folder.files))
        self._show(folder.showing(folder.after(()) or folder.files[0]))

    def _show(self, folder: LabelledFolder) -> None:
        self.view.folder = folder
        missing = [file for file in folder.on_page if file not in self.thumbnails]
        if missing and frozenset(missing) != self._asked:
            self._asked = frozenset(missing)
            self._browser.show_thumbnails(missing)

    def _take_thumbnails(self, found: ThumbnailPage | None) -> None:
        if found is None or self.view.folder is None:
            return
        taken = dict(zip(found.files, found.values, strict=True))
        self.thumbnails.update(taken)
        for file in list(self.thumbnails)[: max(0, len(self.thumbnails) - MOST_THUMBNAILS)]:
            del self.thumbnails[file]
        self.thumbnails_changed.emit(taken)

    def filter(self, name: str) -> None:
        """Show all images, those without a label, or those of a class (``LabelledFolder.filter``)."""
        folder = self._folder
        self._show(replace(folder, filter=name, page=0).showing(*folder.selected))

    def turn(self, step: int) -> None:
        """Show the next page of images, or with -1 the one before."""
        folder = self._folder
        page = min(max(folder.page + step, 0), folder.pages - 1)
        moved = replace(folder, page=page)
        self._show(moved.showing(*moved.on_page[:1]) if page != folder.page else folder)

    def select(self, files: Iterable[str]) -> None:
        """Select these of the images shown."""
        wanted = set(files)
        folder = self._folder
        self._show(replace(folder, selected=tuple(file for file in folder.on_page if file in wanted)))

    def next_unlabelled(self) -> None:
        """Select the next image without a label."""
        folder = self._folder
        following = folder.after(folder.selected)
        if following:
            self._show(folder.showing(following))

    @property
    def _folder(self) -> LabelledFolder:
        if self.view.folder is None:
            raise ValueError("labelling: no folder is open; open a folder of images without labels")
        return self.view.folder

    # ----- changes -----

    def add_class(self, name: str) -> str:
        """Add a class without images; returns why not where that can't be."""
        folder, name = self._folder, name.strip()
        if reason := self._unfit(name):
            return reason
        self._set_classes((*folder.classes, name))
        before, after = folder.classes, self._folder.classes
        self._state.undo_stack.push(
            Change(f"Add class {name}", lambda: self._set_classes(before), lambda: self._set_classes(after))
        )
        return ""

    def _unfit(self, name: str) -> str:
        """Why no class can get this name; empty where one can."""
        from engine.core.errors import ArgumentError
        from engine.training.sources.class_names import folder_of_class

        try:
            folder_of_class(name)
        except ArgumentError as error:
            return problem_from_message(str(error), "").what
        return f"There is a class {name} already." if name in self._folder.classes else ""

    def rename_class(self, before: str, name: str) -> str:
        """Give a class another name, in the labels of its images too; returns why not where that can't be."""
        folder, name = self._folder, name.strip()
        if name == before or (reason := self._unfit(name)):
            return "" if name == before else reason
        files = [file for file, label in folder.labels.items() if label == before]
        if self._rename(folder.folder, files, before, name):
            self._state.undo_stack.push(
                Change(
                    f"Rename class {before}",
                    lambda: self._rename(folder.folder, files, name, before),
                    lambda: self._rename(folder.folder, files, before, name),
                )
            )
        return ""

    def _rename(self, place: str, files: list[str], before: str, name: str) -> bool:
        """Whether it was saved."""
        shown = self.view.folder
        classes = () if shown is None else tuple(name if each == before else each for each in shown.classes)
        saved = self._saved(place, dict.fromkeys(files, name)) if files else shown
        if saved is not None and saved.folder == place:
            chosen = CLASS + name if saved.filter == CLASS + before else saved.filter
            self._show(replace(saved, classes=classes, filter=chosen).showing(*saved.selected))
        return saved is not None

    def _set_classes(self, classes: tuple[str, ...]) -> None:
        if self.view.folder is not None:
            used = [name for name in self.view.folder.counts if name not in classes]
            self.view.folder = replace(self.view.folder, classes=(*classes, *used))

    def label(self, name: str) -> None:
        """Give the selected images this label, or none where it is empty; then select the next image."""
        folder = self._folder
        files = [file for file in folder.selected if file not in folder.excluded]
        before = {file: folder.labels.get(file, "") for file in files}
        saved = self._saved(folder.folder, dict.fromkeys(files, name)) if files else None
        if saved is None:
            return
        following = folder.after(files) if name else ""
        self._show(saved.showing(*([following] if following else files)))
        title = f"Label {files[0]}" if len(files) == 1 else f"Label {len(files)} images"
        if any(label != name for label in before.values()):
            self._state.undo_stack.push(
                Change(
                    title,
                    lambda: self._relabel(folder.folder, before),
                    lambda: self._relabel(folder.folder, dict.fromkeys(files, name)),
                )
            )

    def _relabel(self, folder: str, labels: Mapping[str, str]) -> None:
        saved = self._saved(folder, labels)
        if saved is not None and saved.folder == folder:
            self._show(saved.showing(*labels))

    def exclude(self) -> None:
        """Exclude the selected images from the data, or include them again where all are excluded."""
        folder = self._folder
        files = folder.selected
        if not files:
            return
        patterns = self._state.train.settings.exclude
        following = folder.after(files)
        if all(file in folder.excluded for file in files):
            values, title = without_files(patterns, files), f"Include {len(files)} images"
        else:
            values, title = with_files(patterns, files), f"Exclude {len(files)} images"
        self._state.change_settings({"exclude": values}, title)
        self._show(self._folder.showing(following or files[0]))

    def _exclude_again(self) -> None:
        """The setting ``exclude`` may have changed."""
        folder = self.view.folder
        if folder is not None:
            excluded = self._excluded(folder.files)
            if excluded != folder.excluded:
                self._show(replace(folder, excluded=excluded).showing(*folder.selected))

    def _excluded(self, files: Iterable[str]) -> frozenset[str]:
        patterns = self._state.train.settings.exclude
        if not patterns:
            return frozenset()
        from engine.training.sources.image_folder import is_excluded

        return frozenset(file for file in files if is_excluded(file, patterns))

    # ----- the file -----

    def _saved(self, place: str, labels: Mapping[str, str]) -> LabelledFolder | None:
        """Write these labels; returns what is shown with them, None where that failed, which is reported.
        Labels that another program wrote meanwhile stay."""
        from engine.core.errors import EngineError

        folder = self.view.folder
        try:
            table = self._read(Path(place)).changed(labels)
            table.write()
        except EngineError as error:
            self._report(problem_from_message(str(error), "The labels can't be saved"))
            return None
        self._table, self._read_at = table, _stamp(table.path)
        if folder is None or folder.folder != place:
            return folder
        found = table.labels
        more = [name for name in dict.fromkeys(found.values()) if name not in folder.classes]
        return replace(folder, labels=found, classes=(*folder.classes, *more))

    def _read(self, place: Path) -> LabelTable:
        from engine.training.sources.image_folder import images_of
        from engine.training.sources.image_labels import LabelTable, label_file, read_label_table

        path = label_file(place)
        table = self._table
        if table is not None and path == table.path and _stamp(path) == self._read_at:
            return table
        return read_label_table(path, images_of(place, path)) if path is not None else LabelTable.empty(place)

    # ----- beginning and end -----

    def begin(self) -> None:
        """Label the images of the data, or change their labels."""
        self._browser.label(self._state.train.settings)

    def finish(self) -> None:
        """Show the folder as data."""
        self._browser.finish_labelling(self._state.train.settings)


def _stamp(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_mtime_ns, found.st_size
