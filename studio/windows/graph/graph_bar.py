"""The bar above tree and diagram: which part of the training, colours, looks at layers, zoom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QComboBox, QLabel, QSlider, QWidget

from widgets import theme
from widgets.cards import Chip
from widgets.flow import FlowLayout
from widgets.layouts import horizontal
from widgets.retranslated import Retranslated

PHASES = ("forward", "backward", "update")


class GraphBar(Retranslated, QWidget):
    """``step_toggled`` asks for a whole step of the training, ``activations_toggled`` for what operators
    compute on the boxes of the diagram; ``phases_chosen`` carries the phases to show,
    ``color_chosen`` a subject (empty for none) and ``look_chosen`` the place of a look."""

    step_toggled = Signal(bool)
    activations_toggled = Signal(bool)
    phases_chosen = Signal(list)
    color_chosen = Signal(str)
    look_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.step = Chip(checkable=True)
        self.activations = Chip(checkable=True)
        for chip in (self.step, self.activations):
            chip.setChecked(False)
        self.phases = [Chip(checkable=True) for _ in PHASES]
        self._colors_label, self.colors = QLabel(), QComboBox()
        self.looks, self.look_words = QSlider(Qt.Orientation.Horizontal), QLabel()
        self._subjects: tuple[str, ...] = ()
        self._titles: dict[str, str] = {}
        self._has: tuple[str, ...] = ()
        self._in_diagram = False
        self._build()
        self.retranslate()
        self.show_phases(())
        self.set_looks([], -1, False)

    def _build(self) -> None:
        flow = FlowLayout(self, theme.SPACE_S, theme.SPACE_XS)
        for chip in (self.step, *self.phases, self.activations):
            flow.addWidget(chip)
        colors = QWidget()
        row = horizontal(colors, 0, theme.SPACE_XS)
        self._colors_label.setProperty("role", "mute")
        self._colors_label.setBuddy(self.colors)
        self.colors.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        row.addWidget(self._colors_label)
        row.addWidget(self.colors)
        flow.addWidget(colors)
        self._look_box = QWidget()
        row = horizontal(self._look_box, 0, theme.SPACE_XS)
        self.looks.setFixedWidth(120)
        self.look_words.setProperty("role", "mute")
        row.addWidget(self.looks)
        row.addWidget(self.look_words)
        flow.addWidget(self._look_box)
        # What a person does, not what is set by code.
        self.step.clicked.connect(self.step_toggled)
        self.activations.toggled.connect(self.activations_toggled)
        for chip in self.phases:
            chip.clicked.connect(lambda _=False: self.phases_chosen.emit(self.chosen_phases()))
        self.colors.activated.connect(lambda place: self.color_chosen.emit(self._subject(place)))
        self.looks.valueChanged.connect(self.look_chosen)

    # ----- phases -----

    def chosen_phases(self) -> list[str]:
        """The phases that are shown."""
        return [phase for phase, chip in zip(PHASES, self.phases, strict=True) if chip.isChecked()]

    def show_phases(self, phases: Sequence[str]) -> None:
        """Offer the phases that the Program has; no choice of one alone."""
        self._has = tuple(phases)
        self._place_phases()

    def show_in_diagram(self, shown: bool) -> None:
        """Only the diagram hides phases."""
        self._in_diagram = shown
        self.activations.setVisible(shown)
        self._place_phases()

    def _place_phases(self) -> None:
        for phase, chip in zip(PHASES, self.phases, strict=True):
            chip.setVisible(self._in_diagram and phase in self._has and len(self._has) > 1)

    def set_step(self, whole: bool, why_not: str = "") -> None:
        """Whether a whole step of the training is shown, or why it can't be."""
        self.step.setChecked(whole)
        self.step.setEnabled(not why_not)
        self._why_no_step = why_not
        self.retranslate()

    # ----- colours -----

    def set_colors(self, titles: Mapping[str, str], why_not: Mapping[str, str], chosen: str) -> None:
        """The subjects to colour by, with the reasons why some are not possible now."""
        model = self.colors.model()
        with QSignalBlocker(self.colors):
            if self._titles != dict(titles):
                self._titles, self._subjects = dict(titles), tuple(titles)
                self.colors.clear()
                for subject in ("", *self._subjects):
                    self.colors.addItem(titles[subject] if subject else self.tr("None"))
            for place, subject in enumerate(self._subjects, 1):
                if isinstance(model, QStandardItemModel):
                    item = model.item(place)
                    item.setEnabled(not why_not[subject])
                    item.setToolTip(why_not[subject])
            place = self._subjects.index(chosen) + 1 if chosen in self._subjects else 0
            self.colors.setCurrentIndex(place)

    def title_of(self, subject: str) -> str:
        """What a subject is called."""
        return self._titles.get(subject, subject)

    def _subject(self, place: int) -> str:
        return self._subjects[place - 1] if place > 0 else ""

    # ----- looks -----

    def set_looks(self, words: Sequence[str], place: int, shown: bool) -> None:
        """The looks at the layers by their words, and which one is shown."""
        with QSignalBlocker(self.looks):
            self.looks.setRange(0, max(0, len(words) - 1))
            self.looks.setValue(place)
        self.looks.setEnabled(len(words) > 1)
        self.look_words.setText(words[place] if 0 <= place < len(words) else "")
        self._look_box.setVisible(shown and bool(words))

    _why_no_step = ""

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self.step.setText(tr("Training step"))
        self.step.setToolTip(
            self._why_no_step or tr("Show a whole training step after the passes: forward, backward, updates")
        )
        self.activations.setText(tr("Activations"))
        self.activations.setToolTip(
            tr("Show on each box what its operator computes for the sample of the page Predict")
        )
        for chip, words in zip(self.phases, (tr("Forward"), tr("Backward"), tr("Updates")), strict=True):
            chip.setText(words)
        self._colors_label.setText(tr("Colour"))
        self.colors.setAccessibleName(tr("Colour operators by"))
        self.looks.setAccessibleName(tr("Look at the layers"))
        self.looks.setToolTip(tr("Looks at the layers over the training"))
        if self.colors.count():
            self.colors.setItemText(0, tr("None"))
