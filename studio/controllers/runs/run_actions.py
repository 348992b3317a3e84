"""What is done with runs: name and note, duplicate, hide, delete, export; by menu, strip and commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QPoint
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from resources.words import shown, tr
from studio.controllers.actions import Actions
from studio.controllers.bindings import Bindings
from studio.controllers.checkpoints.checkpoints_controller import CheckpointsController
from studio.controllers.compare.compare_numbers import CompareNumbersController
from studio.controllers.runs.comparison import ComparisonController
from studio.controllers.runs.run_color_menu import RunColorMenu
from studio.controllers.runs.run_facts import state_of
from studio.controllers.runs.run_list_controller import QUEUED
from studio.session import commands
from studio.session.command import Command
from studio.session.commands import shown_in
from studio.session.runs.run_colors import default_color
from studio.session.session import Session
from studio.session.train.run_settings import title_of
from studio.windows.controls import ActionButton
from studio.windows.main_window import MainWindow
from studio.windows.runs.run_notes_dialog import RunNotesDialog
from studio.windows.trash import move_to_trash
from widgets import theme

# Areas of the table of commands: buttons below the list, for runs and for what waits, and the menu of a run.
STRIP, QUEUE, MENU = "run strip", "queue", "run menu"


class RunActions(QObject):
    """Carries out the commands that mean the selected run, or all that are chosen in the list.

    Args:
        new_run: leaves the runs that are shown, for settings to be looked at.
        say: called with each success.
    """

    def __init__(
        self, session: Session, window: MainWindow, actions: Actions, new_run: Callable[[], None]
    ) -> None:
        super().__init__(window)
        self._session, self._window, self._actions, self._new_run = session, window, actions, new_run
        self._panel = window.project
        self._comparer = ComparisonController(window, session.files.reading)
        self._numbers = CompareNumbersController(session, window, actions, self.chosen)
        self.checkpoints = CheckpointsController(session, window, actions)
        self.ask_run: Callable[[str], object] = _nothing  # set when the page Predict is there
        self._changes = session.run_changes
        self._changes.to_trash = move_to_trash
        for name, handler in (
            (commands.RUN_NOTES, self.edit_notes),
            (commands.TRY_RUN, self.ask),
            (commands.DUPLICATE_RUN, self.duplicate),
            (commands.HIDE_RUN, self.hide),
            (commands.DELETE_RUN, self.delete),
            (commands.REMOVE_RUN, self.remove_missing),
            (commands.COMPARE_RUNS, self.compare),
            (commands.QUEUE_EARLIER, lambda: self.move(-1)),
            (commands.QUEUE_LATER, lambda: self.move(1)),
            (commands.QUEUE_REMOVE, self.remove),
        ):
            actions.handle(name, handler)
        strip = self._panel.strip
        for which, position in shown_in(STRIP):
            button = ActionButton(actions[which], which.icon, "primary" if position.primary else "")
            strip.add(which.id, button)
        for which, _ in shown_in(QUEUE):
            strip.add(which.id, ActionButton(actions[which]))
        strip.finish()
        strip.more.clicked.connect(self._more)
        strip.undo.clicked.connect(session.undo_stack.undo)
        self._panel.runs.menu_requested.connect(self.show_menu)
        self._panel.runs.delete_requested.connect(self.press_delete)
        self._panel.runs.chosen_changed.connect(lambda _: self._show_strip())
        moving = self._panel.runs.moving
        moving.dropped.connect(self._place)
        moving.refused.connect(
            lambda: actions.refused.emit(self.tr("Waiting runs can be moved only within the queue."))
        )
        moving.stepped.connect(
            lambda by: actions.trigger(commands.QUEUE_EARLIER if by < 0 else commands.QUEUE_LATER)
        )
        self._bonds = Bindings()
        self._bonds.follow(self._changes.deleted_for_good, self._report_deleted)
        self._bonds.follow(session.project_opened, self._comparer.close_all)
        self._bonds.follow(session.runs_changed, lambda _: self._show_strip())
        self._bonds.follow(session.selected_run_changed, lambda _: self._show_strip())
        for name in ("state", "message", "epoch"):
            self._bonds.follow(getattr(session.train.events, name), lambda _: self._show_strip())
        self._bonds.follow(session.undo_stack.changed, self._show_undo)
        self._bonds.follow(session.queue.changed, self._actions.refresh)
        self._bonds.follow(session.queue.changed, self._show_strip)
        self._bonds.again(self._show_undo, now=True)
        self._bonds.again(self._show_texts, now=True)

    # ----- what stands below the list -----

    def chosen(self) -> list[str]:
        """The runs that are chosen; the selected one where the list shows none of them."""
        chosen = [key for key in self._panel.runs.chosen() if not key.startswith(QUEUED)]
        return chosen or ([self._session.selected_run] if self._session.selected_run else [])

    def _show_texts(self) -> None:
        for which, text in (
            (commands.RESUME_RUN, self.tr("Resume")),
            (commands.QUEUE_EARLIER, self.tr("Earlier")),
            (commands.QUEUE_LATER, self.tr("Later")),
            (commands.QUEUE_REMOVE, self.tr("Remove")),
        ):
            self._panel.strip.button(which.id).set_text(text)
        self._show_strip()

    def _waiting(self) -> list[int]:
        """The numbers of the chosen entries of the queue, where no run is chosen."""
        chosen = self._panel.runs.chosen()
        waiting = [int(key.removeprefix(QUEUED)) for key in chosen if key.startswith(QUEUED)]
        return waiting if len(waiting) == len(chosen) else []

    def _show_strip(self) -> None:
        session, chosen = self._session, self.chosen()
        self._show_blocked()
        many = "" if len(chosen) > 1 else self.tr("Select two or more runs in the list.")
        if self._actions.reason(commands.COMPARE_RUNS) != many:
            self._actions.block(commands.COMPARE_RUNS, many)
        if self._waiting():
            self._show_waiting()
            return
        held = self._possible(commands.START_QUEUE)
        run = session.listed_run(session.selected_run)
        if run is None or len(chosen) > 1:
            words = self.tr("{0} runs").format(len(chosen)) if len(chosen) > 1 else ""
            self._panel.strip.show_run(words, (), "", [*self._possible(commands.COMPARE_RUNS), *held])
            return
        live = session.train.busy and run.path == session.train.folder
        words = shown(session.train.message) if live else state_of(run, self)
        if run.state in ("interrupted", "stopped", "diverged", "failed") and run.total_steps and not live:
            words = self.tr("{0} at step {1} of {2}").format(
                words, theme.format_number(run.step), theme.format_number(run.total_steps)
            )
        words = " · ".join(filter(None, (words, tr(title_of(str(run.config.get("data", "")))))))
        offered = [*self._possible(*(which for which, _ in shown_in(STRIP))), *held]
        self._panel.strip.show_run(words, run.notes.tags, run.notes.note, offered)

    def _show_blocked(self) -> None:
        """Commands of the queue need an entry of it."""
        reason = "" if self._waiting() else self.tr("Select an entry of the queue.")
        for which in (commands.QUEUE_EARLIER, commands.QUEUE_LATER, commands.QUEUE_REMOVE):
            if self._actions.reason(which) != reason:
                self._actions.block(which, reason)

    def _possible(self, *which: Command) -> list[str]:
        """The ids of those that are possible now."""
        return [each.id for each in which if not self._actions.reason(each)]

    def _show_waiting(self) -> None:
        queue = self._session.queue
        place = next((at for at, each in enumerate(queue.waiting, 1) if each.number == self._waiting()[0]), 0)
        words = self.tr("waiting, {0} of {1}").format(place, len(queue.waiting))
        if queue.held:
            words = self.tr("{0}; the queue is held").format(words)
        offered = self._possible(*(which for which, _ in shown_in(QUEUE)))
        self._panel.strip.show_run(words, (), shown(queue.why), offered)
        self._panel.strip.more.hide()

    def _show_undo(self) -> None:
        title = self._session.undo_stack.undoable
        self._panel.strip.offer_undo(tr(title) if title.endswith((" run", " runs", " queue")) else "")

    # ----- commands -----

    def edit_notes(self) -> str:
        """Ask for name, tags and note of the selected run."""
        reason = self._session.blocked(commands.RUN_NOTES)
        run = self._session.listed_run(self._session.selected_run)
        if reason or run is None:
            return reason
        title = self._session.run_titles[run.path]
        dialog = RunNotesDialog(self._window, title, run.notes, default_color(run.path))
        dialog.described.connect(
            lambda *values: self._report_outcome(self._changes.describe(run.path, *values))
        )
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
        return ""

    def _color(self, color: int | str | None) -> None:
        self._report_outcome(self._changes.color(self.chosen(), color))

    def ask(self) -> str:
        """Ask the selected run on the page Predict."""
        reason = self._session.blocked(commands.TRY_RUN)
        if not reason:
            self.ask_run(self._session.selected_run)
        return reason

    def duplicate(self) -> str:
        """The settings of the selected run, for a new one."""
        reason = self._session.blocked(commands.DUPLICATE_RUN)
        if not reason:
            try:
                self._session.duplicate_run()
            except ValueError as error:
                return str(error)
            self._new_run()
        return reason

    def hide(self) -> str:
        """Leave the chosen runs out of the list, or show them again where they are hidden."""
        reason = self._session.blocked(commands.HIDE_RUN)
        run = self._session.listed_run(self._session.selected_run)
        if reason or run is None:
            return reason
        return self._changes.hide(self.chosen(), not run.notes.hidden)

    def delete(self) -> str:
        """Move the chosen runs to the trash; Undo puts them back."""
        return self._session.blocked(commands.DELETE_RUN) or self._changes.delete(self.chosen())

    def remove_missing(self) -> str:
        """Remove the chosen runs whose folders have disappeared from the list."""
        return self._session.blocked(commands.REMOVE_RUN) or self._changes.remove(self.chosen())

    def press_delete(self) -> None:
        """The key Delete: what it removes depends on what is chosen."""
        run = self._session.listed_run(self._session.selected_run)
        if self._waiting():
            self._actions.trigger(commands.QUEUE_REMOVE)
        else:
            missing = run is not None and run.missing
            self._actions.trigger(commands.REMOVE_RUN if missing else commands.DELETE_RUN)

    def compare(self) -> str:
        """Show the chosen runs side by side, the one chosen last first."""
        runs = [run for folder in self.chosen() if (run := self._session.listed_run(folder)) is not None]
        if len(runs) < 2:
            return self.tr("Select two or more runs in the list.")
        session = self._session
        titles = [session.run_title(run.path) for run in runs]
        self._comparer.compare(runs, titles, [session.run_color(run.path) for run in runs])
        return ""

    def move(self, by: int) -> str:
        """Let the chosen entries of the queue start earlier or later."""
        numbers = self._waiting()
        return self._session.queue.move(numbers, by) if numbers else ""

    def _place(self, keys: list[str], before: str) -> None:
        """Entries were dragged in front of another one, or behind all."""
        numbers = [int(key.removeprefix(QUEUED)) for key in (*keys, before) if key]
        self._report_outcome(self._session.queue.place(numbers[: len(keys)], numbers[-1] if before else 0))

    def remove(self) -> str:
        """Take the chosen entries out of the queue."""
        return self._session.queue.remove(self._waiting())

    def _report_deleted(self, folders: list[str]) -> None:
        names = ", ".join(Path(folder).name for folder in folders)
        words = self.tr("{0}: in the system's trash. Undo can't restore it: open the trash to put it back.")
        self._actions.refused.emit(words.format(names))

    def _report_outcome(self, reason: str) -> None:
        if reason:
            self._actions.refused.emit(shown(reason))

    # ----- the menu -----

    def _more(self) -> None:
        more = self._panel.strip.more
        self.show_menu(self._session.selected_run, more.mapToGlobal(more.rect().bottomLeft()))

    def show_menu(self, folder: str, at: QPoint) -> None:
        """Open the menu of a run, or of an entry of the queue."""
        menu = self._queue_menu() if folder.startswith(QUEUED) else self.menu(folder)
        menu.popup(at)
        menu.aboutToHide.connect(menu.deleteLater)

    def _queue_menu(self) -> QMenu:
        menu = QMenu(self._window)
        for which, _ in shown_in(QUEUE):
            menu.addAction(self._actions[which])
        return menu

    def menu(self, folder: str) -> QMenu:
        """What can be done with a run, which becomes the selected one."""
        self._session.select_run(folder)
        run = self._session.listed_run(folder)
        self._actions.refresh()
        menu = QMenu(self._window)
        menu.setToolTipsVisible(True)
        missing = run is not None and run.missing
        for which, _ in shown_in(MENU):
            if which is (commands.DELETE_RUN if missing else commands.REMOVE_RUN):
                continue
            menu.addAction(self._actions[which])
            if which is commands.RUN_NOTES and run is not None:
                color, own = self._session.run_color(folder), run.notes.color
                menu.addMenu(RunColorMenu(menu, color, own, self._color))
            if which is commands.TRY_RUN:
                export = menu.addAction(
                    self.tr("Export…"), lambda: self._actions.trigger(commands.PAGE_EXPORT)
                )
                why_not = shown(run.exportable) if run is not None else self.tr("this run has no files yet")
                export.setEnabled(not why_not)
                export.setToolTip(why_not)
        hide: QAction = self._actions[commands.HIDE_RUN]
        hide.setText(self.tr("Show run") if run is not None and run.notes.hidden else self.tr("Hide run"))
        return menu

    def close(self) -> None:
        """Follow the session no longer."""
        self._bonds.release()
        self._comparer.close()
        self._numbers.close()
        self.checkpoints.close()


def _nothing(folder: str) -> None:
    """What asking a run does before the page Predict is there."""
