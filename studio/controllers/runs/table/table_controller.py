"""The table of the page Runs: which runs it shows, in which order, with which columns."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, QPoint
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu

from resources.words import shown
from studio.controllers.actions import Actions
from studio.controllers.bindings import Bindings
from studio.controllers.drawing_files import save_drawing
from studio.controllers.runs.column_titles import column_title
from studio.controllers.runs.run_actions import RunActions
from studio.controllers.runs.table.cells import RunCells
from studio.controllers.runs.table.selection import SelectionController
from studio.session import commands
from studio.session.runs.runs_folder import Run
from studio.session.runs.table.columns import differing_settings
from studio.session.runs.table.export import table_text
from studio.session.runs.table.loss_curves import LossCurves
from studio.session.session import Session
from studio.windows.main_window import MainWindow
from studio.windows.runs.table.runs_page import RunsPage
from widgets.delayed import delayed

TYPING_MS, TRAINING_MS = 120, 50


class TableController(QObject):
    """Joins the session's table of runs to the page, while the page is shown.

    Args:
        doings: opens the menu of a run.
    """

    def __init__(
        self,
        session: Session,
        page: RunsPage,
        window: MainWindow,
        actions: Actions,
        doings: RunActions,
    ) -> None:
        super().__init__(page)
        self._session, self._page, self._window, self._actions = session, page, window, actions
        self._table = session.runs_table
        self._doings = doings
        self._curves = LossCurves(session.files.reading)
        self._cells = RunCells(session, self._curves, self)
        page.cell = self._cells.cell
        self._stale, self._compared = True, list[str]()
        self._typing = delayed(self, TYPING_MS, lambda: self._table.set_filter(page.filter.box.text()))
        # A training that begins changes all of these at once.
        self._training = delayed(self, TRAINING_MS, self._take_runs)
        self._bonds = Bindings()
        follow = self._bonds.follow
        follow(session.runs_changed, lambda _: self._take_runs())
        follow(session.run_list.events.show_hidden, lambda _: self._take_runs())
        for name in ("state", "epoch", "folder", "validation_accuracy", "validation_r2"):
            follow(getattr(session.train.events, name), lambda _: self._training.start())
        follow(self._table.changed, self._show)
        follow(self._curves.changed, page.table.refresh)
        self.selection = SelectionController(session, page.table, window.project.runs)
        self._connect()
        self._take_runs()
        self._bonds.again(self._show)

    def _connect(self) -> None:
        page, table = self._page, self._page.table
        page.shown.connect(self._appear)
        page.filter.changed.connect(lambda _: self._typing.start())
        page.filter.box.returnPressed.connect(lambda: self._table.set_filter(page.filter.box.text()))
        table.sort_requested.connect(self._table.sort_by)
        table.columns_moved.connect(self._table.set_columns)
        table.column_resized.connect(self._table.set_width)
        table.visible_changed.connect(self._read_curves)
        table.opened.connect(self._open)
        table.menu_requested.connect(self._menu)
        table.columns_menu_requested.connect(self._columns_menu)
        table.copy_requested.connect(self.copy)
        table.delete_requested.connect(self._delete)
        page.columns.toggled.connect(self._table.toggle_column)
        page.columns.reset_requested.connect(lambda: self._table.set_columns(None))
        self._actions.handle(commands.SAVE_RUNS, self.save)

    # ----- what is shown -----

    def _take_runs(self) -> None:
        self._stale = True
        if self._page.isVisible() or not self._session.runs:
            self._read_runs()

    def _appear(self) -> None:
        if self._stale:
            self._read_runs()
        self._read_curves()

    def _read_runs(self) -> None:
        self._stale = False
        session, hidden = self._session, self._session.run_list.show_hidden
        live = session.train.folder if session.train.busy else ""
        runs = [
            self._as_now(run) if run.path == live else run
            for run in session.runs
            if hidden or not run.notes.hidden
        ]
        self._cells.set_runs(runs)
        self._table.set_runs(runs, session.run_titles)
        folders = [run.path for run in runs]
        if folders != self._compared:
            self._compared = folders
            columns = self._table.columns
            session.files.reading.do(
                lambda: differing_settings(columns, runs), self._table.set_differing, "differing settings"
            )

    def _as_now(self, run: Run) -> Run:
        """The run that trains now, as its view model has it: its journal is read again when it ends."""
        view = self._session.train
        return replace(
            run,
            state="running",
            epoch=view.epoch,
            step=view.step,
            accuracy=view.validation_accuracy,
            r2=view.validation_r2,
            loss=view.validation_loss,
        )

    def _show(self) -> None:
        table, page = self._table, self._page
        page.show_count(len(table.visible), len(table.runs))
        page.table.set_columns(self._cells.columns(table.shown_columns()))
        page.table.set_keys([run.path for run in table.visible])
        page.table.set_sort(table.choices.sort)
        columns = table.columns
        page.columns.set_columns(
            [(name, column_title(columns[name].title), columns.short(name)) for name in columns.names()],
            table.shown_columns(),
        )
        page.filter.set_names(
            sorted({columns.short(name) for name in columns.names()} | set(columns.names()))
        )
        if not self._typing.isActive():
            page.filter.set_text(table.choices.filter)
        error = table.error
        place = (error.position, error.length) if error else (0, 0)
        page.filter.show_error(shown(str(error or "")), *place)
        self.selection.show()
        self._actions.block(
            commands.SAVE_RUNS, "" if table.visible else self.tr("The table of runs is empty.")
        )
        self._read_curves()

    def _read_curves(self) -> None:
        """Read the losses of the rows in sight, in the background."""
        self._curves.request(self._page.table.keys_in_sight())

    # ----- what is done -----

    def _open(self, folder: str) -> None:
        """Show the curves of a run, or of all that are selected with it."""
        if folder not in self._session.runs_selection.folders:
            self._session.runs_selection.select([folder])
        self.selection.share()
        self._actions.trigger(commands.PAGE_TRAIN)

    def _menu(self, folder: str, at: QPoint) -> None:
        self.selection.share()
        self._doings.show_menu(folder, at)

    def _delete(self) -> None:
        self.selection.share()
        self._doings.press_delete()

    def _columns_menu(self, name: str, at: QPoint) -> None:
        menu = QMenu(self._page)
        if name:
            title = column_title(self._table.columns[name].title)
            menu.addAction(self.tr("Hide {0}").format(title), lambda: self._table.toggle_column(name, False))
        menu.addAction(self.tr("Choose columns"), self.choose_columns)
        menu.addAction(self.tr("Choose columns automatically"), lambda: self._table.set_columns(None))
        menu.popup(at)
        menu.aboutToHide.connect(menu.deleteLater)

    def choose_columns(self) -> None:
        """Put the caret into the box that finds columns."""
        self._window.right.show()
        self._page.columns.box.setFocus()

    def copy(self) -> None:
        """Copy the selected rows with all digits, for a spreadsheet."""
        chosen = set(self._page.table.chosen())
        runs = [run for run in self._table.visible if run.path in chosen]
        if runs:
            QGuiApplication.clipboard().setText(
                table_text(self._table, runs, self._page.table.columns(), tabs=True)
            )

    def save(self) -> str:
        """Ask for a file and write the table as CSV."""
        if not self._table.visible:
            return self.tr("The table of runs is empty.")
        titles = self.tr("Save the table of runs"), self.tr("The table could not be saved")
        text = table_text(self._table, self._table.visible, self._table.shown_columns())
        save_drawing(
            self._window, self._session, titles, "runs.csv", [".csv"], lambda _: text.encode("utf-8")
        )
        return ""

    def close(self) -> None:
        """Follow the session no longer."""
        self._typing.stop()
        self._training.stop()
        self.selection.close()
        self._bonds.release()
