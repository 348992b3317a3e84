"""Labelling: gives the images of a folder their classes, which are saved in the folder at once, or elsewhere
where that is read-only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from psygnal import Signal, SignalGroupDescriptor

from studio.session import commands
from studio.session.command import Command
from studio.session.data.data_view import DataViewModel, ThumbnailPage, UnlabelledFolder
from studio.session.data.excluded_files import with_files, without_files
from studio.session.data.labelled_folder import CLASS, LabelledFolder
from studio.session.data.saved_labels import LabelChange, SavedLabels, SaveResult
from studio.session.problem_view import ProblemView, problem_from_message
from studio.session.project.undo import Change

if TYPE_CHECKING:
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
    """Labels of the images that the page Data shows, with undo. They show at once and are written in a
    thread, in the order of the changes; one that can't be written is reported, and shows no longer.

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
        self._saved = SavedLabels("")
        self._on_disk: Mapping[str, str] = {}
        self._saving: list[LabelChange] = []
        self._asked: frozenset[str] = frozenset()
        self._recent: list[tuple[str, ...]] = []  # files that got a label together
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
        self._asked = frozenset()
        self._recent.clear()
        self.thumbnails.clear()
        if found is None:
            self.view.folder = None
            return
        self._saved = SavedLabels(found.folder)
        self._on_disk = {file: label for file, label in zip(found.files, found.labels, strict=True) if label}
        folder = LabelledFolder(found.folder, found.files, self._on_disk, found.classes, place=found.place)
        folder = self._labelled(replace(folder, excluded=self._excluded(folder.files)))
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
        """Show all images, those without a label, or those of a class (``LabelledFolder.filter``).

        The first one is selected where none of those selected is shown.
        """
        folder = self._folder
        shown = replace(folder, filter=name, page=0).showing(*folder.selected)
        self._show(shown if shown.selected else shown.showing(*shown.on_page[:1]))

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
        from engine.training.sources.images.class_names import folder_of_class

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
        done = self._rename(folder.folder, files, before, name)
        self._push(
            f"Rename class {before}",
            done,
            lambda: self._rename(folder.folder, files, name, before),
            lambda: self._rename(folder.folder, files, before, name),
        )
        return ""

    def _rename(self, place: str, files: list[str], before: str, name: str) -> LabelChange:
        def renamed(folder: LabelledFolder, old: str, new: str) -> LabelledFolder:
            classes = tuple(new if each == old else each for each in folder.classes)
            chosen = CLASS + new if folder.filter == CLASS + old else folder.filter
            return replace(folder, classes=classes, filter=chosen)

        labels, old = dict.fromkeys(files, name), dict.fromkeys(files, before)
        change = LabelChange(place, labels, old, lambda shown: renamed(shown, name, before))
        shown = self.view.folder
        if shown is not None and shown.folder == place:
            shown = renamed(shown, before, name)
        self._write(change, shown)
        return change

    def _set_classes(self, classes: tuple[str, ...]) -> None:
        if self.view.folder is not None:
            used = [name for name in self.view.folder.counts if name not in classes]
            self.view.folder = replace(self.view.folder, classes=(*classes, *used))

    def label(self, name: str) -> None:
        """Give the selected images this label, or none where it is empty; then select the next image."""
        self._label([file for file in self._folder.selected if file not in self._folder.excluded], name)

    def go_back(self) -> None:
        """Remove the labels of the selected images; where they have none, return to those labelled before.

        Where the filter hides these, their labels are removed, which shows them again.
        """
        folder = self._folder
        if any(file in folder.labels for file in folder.selected):
            self.label("")
            return
        while self._recent:
            files = [file for file in self._recent.pop() if file in folder.labels]
            if any(folder.shows(file) for file in files):
                self._show(folder.showing(*files))
                return
            if files:
                self._label(files, "")
                return

    def _label(self, files: Sequence[str], name: str) -> None:
        folder = self._folder
        if not files:
            return
        labels = dict.fromkeys(files, name)
        done = LabelChange(folder.folder, labels, {file: folder.labels.get(file, "") for file in files})
        is_new = any(label != name for label in done.before.values())
        self._write(done)
        if done.failed:
            return
        if name:
            self._recent.append(tuple(files))
        following = folder.after(files) if name else ""
        self._show(self._labelled(folder).showing(*([following] if following else files)))
        if is_new:
            self._push(
                f"Label {files[0]}" if len(files) == 1 else f"Label {len(files)} images",
                done,
                lambda: self._relabel(folder.folder, done.before),
                lambda: self._relabel(folder.folder, labels),
            )

    def _relabel(self, place: str, labels: Mapping[str, str]) -> None:
        change = LabelChange(place, labels, dict(labels))
        self._write(change)
        shown = self.view.folder
        if not change.failed and shown is not None and shown.folder == place:
            self._show(self._labelled(shown).showing(*labels))

    def _push(
        self, title: str, done: LabelChange, undo: Callable[[], object], redo: Callable[[], object]
    ) -> None:
        """A step of undo for a change, which may still be about to be written: its undo is written after
        it."""
        if not done.failed:
            done.step = Change(title, undo, redo)
            self._state.undo_stack.push(done.step)

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
        from engine.training.sources.images.folder import is_excluded

        return frozenset(file for file in files if is_excluded(file, patterns))

    # ----- the file -----

    def _write(self, change: LabelChange, shown: LabelledFolder | None = None) -> None:
        """Write a change; while that waits it is part of what is ``shown``."""
        # Here, not in the thread: two threads that import the engine at once can lock each other out.
        import engine.training.sources.images.folder  # noqa: F401

        if change.labels:
            self._saving.append(change)
        if shown is not None:
            self._show(self._labelled(shown).showing(*shown.selected))
        if not change.labels:
            return
        saved = self._saved if change.folder == self._folder_name else SavedLabels(change.folder)
        saved.add(change)
        self._state.files.writing.do(saved.write, self._take_saved)

    @property
    def _folder_name(self) -> str:
        return "" if self.view.folder is None else self.view.folder.folder

    def _take_saved(self, found: SaveResult) -> None:
        """Show what the file has, and the changes that are still to be written."""
        shown = self.view.folder
        for change in found.changes:
            self._saving.remove(change)
            if found.error is not None:
                change.failed = True
                if change.step is not None:
                    self._state.undo_stack.remove(change.step)
        here = shown is not None and any(change.folder == shown.folder for change in found.changes)
        if shown is not None and here:
            if found.error is None:
                self._on_disk = found.labels
            for change in reversed(found.changes if found.error is not None else ()):
                shown = change.reverted(shown) if change.reverted is not None else shown
            shown = self._labelled(shown)
            self._show(shown.showing(*shown.selected))
        if found.error is not None:
            self._report(problem_from_message(str(found.error), "The labels can't be saved"))

    def _labelled(self, folder: LabelledFolder) -> LabelledFolder:
        """With the labels on the disk, as the changes that are to be written make them."""
        labels, saving = dict(self._on_disk), set[str]()
        for change in self._saving:
            if change.folder == folder.folder:
                labels.update(change.labels)
                saving.update(change.labels)
        labels = {file: label for file, label in labels.items() if label}
        more = [name for name in dict.fromkeys(labels.values()) if name not in folder.classes]
        return replace(folder, labels=labels, saving=frozenset(saving), classes=(*folder.classes, *more))

    def _when_saved(self, then: Callable[[], object]) -> None:
        """Call ``then`` once all labels are in their files: other processes read those."""
        files = self._state.files
        files.when_written(lambda: self._when_saved(then) if self._saving else then())

    # ----- beginning and end -----

    def begin(self) -> None:
        """Label the images of the data, or change their labels."""
        self._when_saved(lambda: self._browser.label(self._state.train.settings))

    def finish(self) -> None:
        """Show the folder as data."""
        self._when_saved(lambda: self._browser.finish_labelling(self._state.train.settings))
