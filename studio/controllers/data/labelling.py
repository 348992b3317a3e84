"""Labelling on the page Data: shows the folder that is open, and passes on what is clicked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject

from studio.controllers.actions import Actions, command_text
from studio.controllers.bindings import Bindings
from studio.session import commands
from studio.session.data.labelled_folder import ALL, CLASS, EXCLUDED, PAGE, UNLABELLED, LabelledFolder
from studio.session.session import Session
from studio.windows.controls import ActionButton
from studio.windows.data.labelling_page import LabellingPage
from studio.windows.top_bar import PageActions
from widgets.delayed import delayed

MOST_FILTERS = 200
SAVING_MS = 300  # a label that takes longer to save is reported


class LabellingController(QObject):
    """Follows ``session.labelling``.

    Args:
        train: shows the page Train.
    """

    def __init__(
        self,
        session: Session,
        page: LabellingPage,
        bar: PageActions,
        actions: Actions,
        train: Callable[[], object],
    ) -> None:
        super().__init__(page)
        self._labelling = labelling = session.labelling
        self._page, self._bar, self._actions, self._train = page, bar, actions, train
        self._opened = ""
        self._offered: tuple[bool, ...] | None = None
        self._is_late = False
        self._saving = delayed(self, SAVING_MS, self._saves_late)
        self._bonds = Bindings()
        actions.fill_bar(bar, "data")
        actions.handle(commands.TRAIN_LABELLED, self._train_on_these)
        page.add_actions(
            ActionButton(actions[commands.EXCLUDE_IMAGES]), ActionButton(actions[commands.NEXT_UNLABELLED])
        )
        page.selection_changed.connect(labelling.select)
        page.label_chosen.connect(labelling.label)
        page.class_added.connect(self._add_class)
        page.class_renamed.connect(self._rename_class)
        page.filter_chosen.connect(labelling.filter)
        page.turned.connect(labelling.turn)
        page.back_requested.connect(labelling.go_back)
        page.next_requested.connect(lambda: actions.trigger(commands.NEXT_UNLABELLED))
        page.exclude_requested.connect(lambda: actions.trigger(commands.EXCLUDE_IMAGES))
        self._bonds.show(labelling.view, "folder", self._show)
        self._bonds.follow(labelling.thumbnails_changed, self._show_thumbnails)
        self._bonds.follow(session.data.events.facts, lambda _: self._offer())

    def _add_class(self, name: str) -> None:
        reason = self._labelling.add_class(name)
        if reason:
            self._actions.refused.emit(reason)
        else:
            self._page.name.clear()

    def _rename_class(self, before: str, name: str) -> None:
        if reason := self._labelling.rename_class(before, name):
            self._actions.refused.emit(reason)

    def _train_on_these(self) -> None:
        self._labelling.finish()
        self._train()

    def _offer(self) -> None:
        """Offer what is possible with the data, or with its labels."""
        self._actions.refresh()
        folder = self._labelling.view.folder
        if folder is not None:
            self._bar.show_only(commands.FINISH_LABELLING.id, commands.TRAIN_LABELLED.id)
        elif not self._actions.reason(commands.LABEL_IMAGES):
            self._bar.show_only(commands.LABEL_IMAGES.id)
        else:
            self._bar.show_only()

    def _show(self, folder: LabelledFolder | None) -> None:
        self._page.show_place("" if folder is None else folder.place)
        offered = None if folder is None else (folder.is_enough, bool(folder.selected))
        if folder is None or offered != self._offered:
            self._offered = offered
            self._offer()
        if folder is None:
            self._opened = ""
            return
        page = self._page
        page.show_classes([(name, folder.counts.get(name, 0)) for name in folder.classes])
        self._show_progress(folder)
        page.offer_filters(self._filters(folder), folder.filter)
        self._show_images(folder)
        page.select(folder.selected)
        if folder.folder != self._opened:
            self._opened = folder.folder
            page.begin()

    def _show_progress(self, folder: LabelledFolder) -> None:
        if not folder.saving:
            self._is_late = False
            self._saving.stop()
        elif not self._is_late and not self._saving.isActive():
            self._saving.start()
        reason = command_text(self._actions.reason(commands.TRAIN_LABELLED))
        saving = len(folder.saving) if self._is_late else 0
        self._page.show_progress(folder.labelled, folder.total, reason, saving)

    def _saves_late(self) -> None:
        folder = self._labelling.view.folder
        if folder is not None:
            self._is_late = True
            self._show_progress(folder)

    def _show_images(self, folder: LabelledFolder) -> None:
        files = folder.on_page
        first, count = folder.page * PAGE, len(folder.matching)
        note = self.tr("{0} to {1} of {2}").format(first + 1, first + len(files), count) if files else ""
        turns = folder.page > 0, folder.page < folder.pages - 1
        labels = [self._label(folder, file) for file in files]
        new = self._page.show_images(files, labels, note, turns)
        known: dict[str, Any] = self._labelling.thumbnails
        if new:
            self._page.show_thumbnails((file, known[file]) for file in files if file in known)

    def _show_thumbnails(self, taken: dict[str, Any]) -> None:
        folder = self._labelling.view.folder
        if folder is not None and any(image is None for image in taken.values()):
            self._show_images(folder)
        self._page.show_thumbnails(taken.items())

    def _label(self, folder: LabelledFolder, file: str) -> str:
        if file in folder.excluded:
            return self.tr("excluded")
        unread = self.tr("unreadable") if self._labelling.thumbnails.get(file, "") is None else "\u2013"
        return folder.labels.get(file, unread)

    def _filters(self, folder: LabelledFolder) -> list[tuple[str, str]]:
        filters = [
            (ALL, self.tr("All images")),
            (UNLABELLED, self.tr("Unlabelled")),
            (EXCLUDED, self.tr("Excluded")),
        ]
        return filters + [(CLASS + name, name) for name in folder.classes[:MOST_FILTERS]]

    def close(self) -> None:
        """Follow the session no longer."""
        self._bonds.release()
