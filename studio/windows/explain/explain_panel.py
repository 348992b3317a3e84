"""ExplainPanel: why a model answers as it does, by a map over the image or a bar for each column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QLabel,
    QProgressBar,
    QPushButton,
    QSlider,
    QSpinBox,
    QWidget,
)

from studio.windows.controls import Scroll
from widgets import theme
from widgets.attribution import ColumnBars, MapView, ShadeLegend, Shades
from widgets.cards import Chip
from widgets.flow import FlowLayout
from widgets.icons import set_icon
from widgets.labels import mute
from widgets.layouts import grid, horizontal, vertical
from widgets.retranslated import Retranslated

METHODS = ("saliency", "integrated", "occlusion")
BASELINES, COLORS = ("zero", "mean", "white"), ("mean", "zero", "white")
MOST_STEPS, MOST_SIDE = 1000, 512
NARROW = 560
IMAGE_SIDE = 112


class ExplainPanel(Retranslated, QWidget):
    """Filled by its controller.

    ``method_chosen`` carries one of ``METHODS``, ``target_chosen`` the number of a score, -1 for the answer;
    ``option_chosen`` the name of an option and its value. ``looked_at`` says whether the panel is visible.
    """

    method_chosen = Signal(str)
    target_chosen = Signal(int)
    option_chosen = Signal(str, object)
    looked_at = Signal(bool)
    cancel_requested = Signal()
    more_requested = Signal()
    save_requested = Signal()
    copy_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.over, self.alone, self.bars = MapView(), MapView(alone=True), ColumnBars()
        self.legend, self.about, self.facts, self.reasons = (
            ShadeLegend(),
            *(mute(wrap=True) for _ in range(3)),
        )
        self.facts.setProperty("role", "")
        self.methods = {name: Chip(checkable=True) for name in METHODS}
        self.target, self.baseline, self.color = QComboBox(), QComboBox(), QComboBox()
        self.output = QComboBox()
        self.steps, self.size_box, self.stride = QSpinBox(), QSpinBox(), QSpinBox()
        self.opacity = QSlider(Qt.Orientation.Horizontal)
        self.progress, self.cancel_button = QProgressBar(), QPushButton()
        self.save_button, self.copy_button, self.more_button = QPushButton(), QPushButton(), QPushButton()
        self._labels: dict[QWidget, QLabel] = {}
        self._fields: dict[QWidget, QWidget] = {}
        self._images, self._bars_box = QWidget(), Scroll(self.bars)
        self._tools, self._words, self._working = QWidget(), QWidget(), QWidget()
        self._grid = grid(self, 0, theme.SPACE_M)
        self._grid.setVerticalSpacing(theme.SPACE_S)
        self._wide: bool | None = None
        self._build()
        self._arrange(True)
        self.retranslate()
        self.show_options("saliency")
        self.set_targets([], -1)
        self.set_outputs([], 0)
        self.show_progress(None)
        self.offer_more(False)
        self.show_nothing("")

    def _build(self) -> None:
        images = horizontal(self._images, 0, theme.SPACE_M)
        for view in (self.over, self.alone):
            view.setMinimumSize(IMAGE_SIDE, IMAGE_SIDE)
            images.addWidget(view, 1)
        self._bars_box.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        group = QButtonGroup(self)
        chips = QWidget()
        flow = FlowLayout(chips, theme.SPACE_S, theme.SPACE_XS)
        for name, chip in self.methods.items():
            group.addButton(chip)
            flow.addWidget(chip)
            chip.clicked.connect(lambda _=False, name=name: self.method_chosen.emit(name))
        for box in (self.output, self.target, self.baseline, self.color):
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(8)
        for box, keys in ((self.baseline, BASELINES), (self.color, COLORS)):
            for key in keys:
                box.addItem("", key)
        for spin, most in ((self.steps, MOST_STEPS), (self.size_box, MOST_SIDE), (self.stride, MOST_SIDE)):
            spin.setRange(1, most)
            spin.setKeyboardTracking(False)
            spin.setMaximumWidth(84)
            spin.lineEdit().setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.opacity.setRange(0, 100)
        self.opacity.setValue(round(100 * self.over._opacity))
        self.opacity.setFixedWidth(96)
        chosen = self.output, self.target
        fields = QWidget()
        flow = FlowLayout(fields, theme.SPACE_M, theme.SPACE_XS)
        for widget in (
            *chosen, self.steps, self.baseline, self.size_box, self.stride, self.color, self.opacity
        ):  # fmt: skip
            flow.addWidget(self._field(widget))
        self.target.activated.connect(lambda _: self.target_chosen.emit(self.target.currentData()))
        self.output.activated.connect(lambda place: self.option_chosen.emit("output", place))
        self.opacity.valueChanged.connect(lambda share: self.over.set_opacity(share / 100))
        for name, spin in (("steps", self.steps), ("size", self.size_box), ("stride", self.stride)):
            spin.valueChanged.connect(lambda value, name=name: self.option_chosen.emit(name, value))
        for name, box in (("baseline", self.baseline), ("color", self.color)):
            box.activated.connect(
                lambda _, name=name, box=box: self.option_chosen.emit(name, box.currentData())
            )
        self.progress.setTextVisible(False)
        self.progress.setRange(0, 1000)
        working = horizontal(self._working, 0)
        working.addWidget(self.progress, 1)
        working.addWidget(self.cancel_button)
        set_icon(self.cancel_button, "cancel")
        set_icon(self.save_button, "download")
        set_icon(self.copy_button, "copy")
        buttons = QWidget()
        flow = FlowLayout(buttons, theme.SPACE_S, theme.SPACE_XS)
        for button, asked in (
            (self.more_button, self.more_requested),
            (self.save_button, self.save_requested),
            (self.copy_button, self.copy_requested),
        ):
            flow.addWidget(button)
            button.clicked.connect(asked)
        self.cancel_button.clicked.connect(self.cancel_requested)
        column = vertical(self._tools, 0, theme.SPACE_S)
        for widget in (chips, fields, self.legend, self._working):
            column.addWidget(widget)
        column.addStretch(1)
        column = vertical(self._words, 0, theme.SPACE_S)
        for widget in (self.facts, self.about, self.reasons, buttons):
            column.addWidget(widget)

    def _field(self, widget: QWidget) -> QWidget:
        """A control after its label, which wrap together."""
        field, label = QWidget(), QLabel()
        label.setBuddy(widget)
        row = horizontal(field, 0, theme.SPACE_XS)
        row.addWidget(label)
        row.addWidget(widget)
        self._labels[widget], self._fields[widget] = label, field
        return field

    def _arrange(self, wide: bool) -> None:
        """Put the tools next to the images, or below them."""
        if wide == self._wide:
            return
        self._wide = wide
        for view in (self._images, self._bars_box):
            self._grid.addWidget(view, 0, 0)
        self._grid.addWidget(self._tools, 0 if wide else 1, 1 if wide else 0)
        self._grid.addWidget(self._words, 1 if wide else 2, 0, 1, 2 if wide else 1)
        for column, share in enumerate((1, 1) if wide else (1, 0)):
            self._grid.setColumnStretch(column, share)
        self._grid.setRowStretch(0, 1)

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Show) and self.isVisible():
            self._arrange(self.width() >= NARROW)
        return super().event(event)

    def minimumSizeHint(self) -> QSize:
        least = super().minimumSizeHint()
        wide = max(2 * IMAGE_SIDE + theme.SPACE_M, self._tools.minimumSizeHint().width())
        return QSize(wide, least.height())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.looked_at.emit(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.looked_at.emit(False)

    # ----- what can be chosen -----

    def set_methods(self, chosen: str, reasons: dict[str, str]) -> None:
        """Which method is chosen, and why others can't be used, by their names."""
        named: dict[str, list[str]] = {}
        for name, chip in self.methods.items():
            chip.setChecked(name == chosen)
            reason = reasons.get(name, "")
            chip.setEnabled(not reason)
            chip.setToolTip(reason)
            if reason:
                named.setdefault(reason, []).append(chip.text())
        lines = [self.tr("{0}: {1}").format(", ".join(names), reason) for reason, names in named.items()]
        self.reasons.setText("\n".join(lines))
        self.reasons.setVisible(bool(lines))

    def set_targets(self, names: Sequence[tuple[int, str]], chosen: int) -> None:
        """The scores to choose from, (number, words); none hides the choice."""
        shown = [(self.target.itemData(n), self.target.itemText(n)) for n in range(self.target.count())]
        if shown != list(names):
            self.target.clear()
            for number, words in names:
                self.target.addItem(words, number)
        self.target.setCurrentIndex(max(0, self.target.findData(chosen)))
        self._fields[self.target].setVisible(bool(names))

    def set_outputs(self, names: Sequence[str], chosen: int) -> None:
        """The outputs to choose from; one alone hides the choice."""
        if [self.output.itemText(n) for n in range(self.output.count())] != list(names):
            self.output.clear()
            self.output.addItems(list(names))
        self.output.setCurrentIndex(chosen)
        self._fields[self.output].setVisible(len(names) > 1)

    def show_options(self, method: str, image: bool = True, **values: Any) -> None:
        """Show the options of a method with their values; for an ``image`` or for other inputs."""
        self._offer_white(image)
        for name, widget in (("steps", self.steps), ("size", self.size_box), ("stride", self.stride)):
            with QSignalBlocker(widget):
                widget.setValue(int(values.get(name, widget.value())))
        for name, box in (("baseline", self.baseline), ("color", self.color)):
            box.setCurrentIndex(max(0, box.findData(values.get(name, box.currentData()))))
        shown = {
            self.steps: method == "integrated",
            self.baseline: method == "integrated",
            self.size_box: method == "occlusion" and image,
            self.stride: method == "occlusion" and image,
            self.color: method == "occlusion",
            self.opacity: image,
        }
        for widget, on in shown.items():
            self._fields[widget].setVisible(on)

    def _offer_white(self, offered: bool) -> None:
        """White is a fill of images only."""
        for box in (self.baseline, self.color):
            place = box.findData("white")
            if offered and place < 0:
                box.addItem(self.tr("White"), "white")
            elif not offered and place >= 0:
                box.removeItem(place)

    # ----- what was found -----

    def show_map(self, image: NDArray[Any], values: NDArray[Any] | None, signed: bool = False) -> None:
        """An image with its map, None for one that is still computed; ``signed`` where values below zero
        mean something."""
        shades = Shades.of([] if values is None else values, signed)
        self.over.show_map(image, values, shades)
        self.alone.show_map(image, values, shades)
        self.legend.show_shades(shades)
        self._show(self._images, values is not None)

    def show_bars(self, rows: Sequence[tuple[str, str, float]], signed: bool = False) -> None:
        """(name, text of its value, attribution) of each column of a row."""
        self.bars.set_rows(rows, signed)
        self.legend.show_shades(Shades.of([value for *_, value in rows], signed))
        self._show(self._bars_box, bool(rows))

    def show_nothing(self, why: str, image: NDArray[Any] | None = None) -> None:
        """No map, and why."""
        if image is not None:
            self.show_map(image, None)
        else:
            self.show_bars([])
        self.set_facts(why)

    def _show(self, view: QWidget, found: bool) -> None:
        for each in (self._images, self._bars_box):
            each.setVisible(each is view)
        self.legend.setVisible(found)
        self.save_button.setEnabled(found)
        self.copy_button.setEnabled(found)

    def set_about(self, text: str) -> None:
        """One line about the method: what it shows and what it does not."""
        self.about.setText(text)

    def set_facts(self, text: str) -> None:
        """What was found in figures, or why there is no map."""
        self.facts.setText(text)
        self.facts.setVisible(bool(text))

    def show_progress(self, share: float | None) -> None:
        """How much is computed, 0 to 1; None where nothing is, or where it takes no time."""
        self._working.setVisible(share is not None)
        self.progress.setValue(round(1000 * (share or 0.0)))

    def offer_more(self, offered: bool) -> None:
        """Whether the user can allow the model more time and memory."""
        self.more_button.setVisible(offered)

    def is_working(self) -> bool:
        """Whether progress is shown."""
        return not self._working.isHidden()

    def content(self) -> bytes:
        """A PNG file of the map over the image, or of the bars."""
        if not self._images.isHidden():
            return self.over.file_content()
        return self.bars.file_content()

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self.methods["saliency"].setText(tr("Saliency"))
        self.methods["integrated"].setText(tr("Integrated gradients"))
        self.methods["occlusion"].setText(tr("Occlusion"))
        names = {
            self.output: tr("Output"),
            self.target: tr("Explain"),
            self.steps: tr("Steps"),
            self.baseline: tr("Baseline"),
            self.size_box: tr("Size"),
            self.stride: tr("Step", "between squares"),
            self.color: tr("Colour"),
            self.opacity: tr("Opacity"),
        }
        for widget, name in names.items():
            self._labels[widget].setText(name)
            widget.setAccessibleName(name)
        self.steps.setToolTip(tr("More steps bring the sum of the map closer to the change of the score"))
        self.baseline.setToolTip(tr("The input without information that the image is compared with"))
        self.size_box.setToolTip(tr("Side of the square that covers a part of the image, in pixels"))
        self.stride.setToolTip(tr("Distance of one square from the next, in pixels"))
        self.color.setToolTip(tr("Fill of the square"))
        fills = {"zero": tr("Zero"), "mean": tr("Mean"), "white": tr("White")}
        for box in (self.baseline, self.color):
            for place in range(box.count()):
                box.setItemText(place, fills[box.itemData(place)])
        self.over.setToolTip("")
        self.cancel_button.setText(tr("Cancel"))
        self.cancel_button.setToolTip(tr("Stop computing; the part that was computed stays"))
        self.progress.setAccessibleName(tr("Progress of the map"))
        self.more_button.setText(tr("Allow more"))
        self.more_button.setToolTip(tr("Allow the model four times the memory and time"))
        self.save_button.setText(tr("Save map…"))
        self.save_button.setToolTip(tr("Save the map over the image as a PNG file"))
        self.copy_button.setText(tr("Copy"))
        self.copy_button.setToolTip(tr("Copy the map over the image to the clipboard"))
