"""Edits of saved models: the command opens the dialog, and what it says goes to the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from resources.words import shown
from studio.controllers.actions import Actions
from studio.controllers.bindings import Bindings
from studio.session import commands
from studio.session.export.edit_job import EditModel
from studio.session.session import Session
from studio.windows.main_window import MainWindow

if TYPE_CHECKING:
    from studio.windows.export.edit_model_dialog import EditModelDialog


class EditModelController(QObject):
    """Carries out the command ``edit_model``."""

    def __init__(self, session: Session, window: MainWindow, actions: Actions) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self._edit = session.saved_model_edit
        self._dialog: EditModelDialog | None = None
        self._bonds = Bindings()
        self._bonds.follow(self._edit.changed, self._show)
        self._bonds.again(self._show)
        actions.handle(commands.EDIT_MODEL, self.open)

    @property
    def dialog(self) -> EditModelDialog | None:
        """The dialog, once it was opened."""
        return self._dialog

    def open(self) -> str:
        """Open the dialog with the model of the page Predict."""
        from studio.windows.export.edit_model_dialog import SOURCE, EditModelDialog

        if self._dialog is None:
            self._dialog = EditModelDialog(self._window)
            self._dialog.write_requested.connect(self.write)
            self._dialog.cancel_requested.connect(self._edit.cancel)
        model = self._session.predict.model
        if model is not None and not model.choice.of_run and not self._dialog.form.value(SOURCE):
            self._dialog.form.set_value(SOURCE, model.choice.path)
        self._show()
        self._dialog.show()
        self._dialog.raise_()
        self._dialog.activateWindow()
        return ""

    def write(self) -> None:
        """Write what the dialog says."""
        from studio.windows.export.edit_model_dialog import CUT, DIMS, FOLD, RENAME, SOURCE, TARGET

        assert self._dialog is not None
        values = self._dialog.form.values()
        self._edit.start(
            EditModel(
                str(values[SOURCE]),
                str(values[TARGET]),
                _parts(values[RENAME]),
                _parts(values[DIMS]),
                str(values[CUT]).replace(" ", ""),
                bool(values[FOLD]),
            )
        )

    def _show(self) -> None:
        if self._dialog is not None:
            self._dialog.show_state(self._edit.running, self._words())

    def _words(self) -> str:
        edit, tr = self._edit, self.tr
        if edit.running:
            return tr("Writing the model and comparing its results…")
        if edit.state == "done" and edit.result is not None:
            inputs, outputs = (", ".join(edit.result[key]) for key in ("inputs", "outputs"))
            return tr("{0}: inputs {1}; outputs {2}").format(edit.result["path"], inputs, outputs)
        if edit.state == "failed" and edit.problem is not None:
            return shown(edit.problem.message)
        return tr("Cancelled.") if edit.state == "cancelled" else ""

    def close(self) -> None:
        """Follow the session no longer."""
        self._bonds.release()


def _parts(text: object) -> tuple[str, ...]:
    """Entries that are separated by commas."""
    return tuple(part.strip() for part in str(text).split(",") if part.strip())
