"""The right dock next to Data: where the data is, how it is split, prepared and varied."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QFrame, QPushButton, QWidget

from resources.settings import DATA_SETTINGS, RUN_SETTINGS
from studio.windows.controls import ValueLabel
from studio.windows.setting_fields import field_of, retranslate_fields
from widgets import theme
from widgets.icons import set_icon
from widgets.labels import mute, section
from widgets.layouts import vertical
from widgets.param_form import ParamForm
from widgets.retranslated import Retranslated

OWN = "own"
IMAGES_ONLY = ("resize", "fit", "damaged_share", "color", "shift", "rotate", "flip")
TABLES_ONLY = ("exclude", "include", "missing", "date_order")
SPLIT = ("split", "test_share", "split_seed")
NAMES = ("input_name", "label_name")


class DataPanel(Retranslated, QFrame):
    """``source_chosen`` carries the name of a built-in data set, or the folder of the collected images; the
    two others ask for a path."""

    source_chosen = Signal(str)
    folder_requested = Signal()
    file_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.source = QComboBox()
        self.folder, self.file = QPushButton(), QPushButton()
        set_icon(self.folder, "open")
        set_icon(self.file, "open")
        self.path = ValueLabel()
        self.form = ParamForm([field_of(setting) for setting in DATA_SETTINGS.values()])
        self.reasons = {name: mute(wrap=True) for name in ("kind", "task")}
        for name, label in self.reasons.items():
            self.form.set_below(name, label)
            label.setContentsMargins(0, 0, 0, theme.SPACE_S)
            label.hide()
        self._source_title, self._form_title = section(), section()
        self.note = mute(wrap=True)
        layout = vertical(self, (theme.SPACE_M, 0, theme.SPACE_M, theme.SPACE_M))
        for widget in (
            self._source_title,
            self.source,
            self.folder,
            self.file,
            self.path,
            self._form_title,
            self.form,
            self.note,
        ):
            layout.addWidget(widget)
        layout.addStretch(1)
        self._form_title.setContentsMargins(0, theme.SPACE_S, 0, 0)
        self.source.activated.connect(self._source_activated)
        self.folder.clicked.connect(self.folder_requested)
        self.file.clicked.connect(self.file_requested)
        self._chosen = self._collected = ""
        self.retranslate()

    def _source_activated(self, index: int) -> None:
        name = str(self.source.itemData(index))
        if name != OWN:
            self.source_chosen.emit(name)

    def offer_collected(self, folder: str) -> None:
        """The folder of the project's drawn and corrected images; empty where there are none yet."""
        self._collected = folder
        place = self.source.findText(self.tr("Collected images"))
        if place >= 0:
            self.source.removeItem(place)
        if folder:
            self.source.insertItem(len(RUN_SETTINGS["data"].choices), self.tr("Collected images"), folder)
        self.show_source(self._chosen)

    def show_source(self, name: str) -> None:
        """The data that is chosen: a built-in name, or a path."""
        self._chosen = name
        built_in = self.source.findData(name)
        own = self.source.findData(OWN)
        if built_in >= 0 and name != OWN:
            if own >= 0:
                self.source.removeItem(own)
            self.source.setCurrentIndex(built_in)
        else:
            if own < 0:
                self.source.addItem(self.tr("Own data"), OWN)
            self.source.setCurrentIndex(self.source.findData(OWN))
        self.path.set_value("" if built_in >= 0 and name != OWN else name)
        self.path.setVisible(bool(self.path.value()))

    def show_reasons(self, reasons: Mapping[str, str]) -> None:
        """Say below the kind and the task why they are what they are."""
        for name, label in self.reasons.items():
            label.setText(reasons.get(name, ""))
            label.setVisible(bool(label.text()))

    def show_fitting(self, kind: str, sample_kind: str, own_split: bool) -> None:
        """Show only the settings that mean something for this kind of data, which ``kind`` of file holds."""
        is_image = sample_kind == "images"
        for name in DATA_SETTINGS:
            fits = (
                (is_image or name not in IMAGES_ONLY)
                and (not own_split or name not in SPLIT)
                and (sample_kind == "table" or name not in TABLES_ONLY)
                and (name not in NAMES or kind in ("npz", "hdf5") or (kind == "csv" and name == "label_name"))
            )
            self.form.set_row_visible(name, fits)
        self.note.setVisible(is_image)

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self._source_title.setText(self.tr("Data"))
        self._form_title.setText(self.tr("Split and preparation"))
        self.folder.setText(self.tr("Choose folder…"))
        self.file.setText(self.tr("Choose file…"))
        self.folder.setToolTip(
            self.tr("A folder of images, with a sub-folder for each class or to be labelled, or of IDX files")
        )
        self.file.setToolTip(self.tr("An NPZ, HDF5 or CSV file"))
        self.source.setAccessibleName(self.tr("Data"))
        self.note.setText(
            self.tr("Shift, Rotate and Mirror change training images only, at random each time.")
        )
        self.source.clear()
        for value, title in RUN_SETTINGS["data"].choices:
            self.source.addItem(self.tr(title), value)
        retranslate_fields(self.form, DATA_SETTINGS, self.tr)
        self.offer_collected(self._collected)
