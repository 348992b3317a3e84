"""The dialog that edits a saved model: names, dimensions, a part of it, and where the result goes."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from studio.windows.controls import ValueLabel
from studio.windows.dialogs import FittingDialog
from widgets import theme
from widgets.labels import mute
from widgets.layouts import horizontal, vertical
from widgets.param_form import Field, ParamForm
from widgets.retranslated import Retranslated

SOURCE, TARGET, RENAME, DIMS, CUT, FOLD = "source", "target", "rename", "dims", "cut", "fold"


class EditModelDialog(Retranslated, FittingDialog):
    """Modeless: the window stays usable. ``write_requested`` comes with a click while the form is valid."""

    write_requested = Signal()
    cancel_requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.form = ParamForm(
            [
                Field(SOURCE, "", "path", "", path="file", required=True),
                Field(RENAME, "", "text", "", placeholder="x=image, out=scores"),
                Field(DIMS, "", "text", "", placeholder="image:0=1, image:2=-1"),
                Field(CUT, "", "text", "", placeholder="relu_0..scores"),
                Field(FOLD, "", "bool", False),
                Field(TARGET, "", "path", "", path="save", required=True),
            ]
        )
        self.form.validity_changed.connect(self._enable)
        self._editing = False
        self._about, self._result = mute(wrap=True), ValueLabel()
        self.write, self.stop = QPushButton(), QPushButton()
        self.write.setProperty("role", "primary")
        self.write.clicked.connect(self.write_requested)
        self.stop.clicked.connect(self._stop)
        buttons = horizontal(None, 0)
        buttons.addStretch(1)
        buttons.addWidget(self.stop)
        buttons.addWidget(self.write)
        layout = vertical(self, theme.SPACE_L, theme.SPACE_M)
        layout.addWidget(self._about)
        layout.addWidget(self.form)
        layout.addWidget(self._result)
        layout.addStretch(1)
        layout.addLayout(buttons)
        self.show_state(False, "")

    def sizeHint(self) -> QSize:
        return QSize(560, 480)

    def show_state(self, editing: bool, words: str) -> None:
        """Whether a model is being written, and what is said of the last one."""
        self._editing = editing
        self.form.set_enabled_keys([] if editing else self.form.keys())
        self._result.set_value(words)
        self._result.setVisible(bool(words))
        self._enable()
        self.retranslate()

    def text(self) -> str:
        """What is said of the result."""
        return self._result.value()

    def _enable(self) -> None:
        filled = all(str(self.form.value(key)).strip() for key in (SOURCE, TARGET))
        self.write.setEnabled(not self._editing and filled and not self.form.errors())

    def _stop(self) -> None:
        if self._editing:
            self.cancel_requested.emit()
        else:
            self.reject()

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr, form = self.tr, self.form
        self.setWindowTitle(tr("Edit saved model"))
        self._about.setText(
            tr("Write a model of any format with changes; the command inspect lists its tensors.")
        )
        form.set_text(SOURCE, tr("Model"), tr("A packed, ONNX or other file, or the prefix of several"))
        form.set_text(RENAME, tr("Rename"), tr("Inputs and outputs as OLD=NEW, separated by commas"))
        form.set_text(
            DIMS, tr("Dimensions"), tr("INPUT:AXIS=SIZE, separated by commas; -1 for a size that varies")
        )
        form.set_text(CUT, tr("Part"), tr("FROM..TO writes the part between tensors; a side may be empty"))
        form.set_text(FOLD, tr("Fold constants"), tr("Compute what depends on constants alone"))
        form.set_text(TARGET, tr("Save as"), tr("NAME.h5, NAME.onnx, or a prefix for three files"))
        self.write.setText(tr("Write"))
        self.write.setToolTip(tr("Write the model after its results were compared with the edited one"))
        self.stop.setText(tr("Cancel") if self._editing else tr("Close"))
