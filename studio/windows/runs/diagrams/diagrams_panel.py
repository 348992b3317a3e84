"""DiagramsPanel: parallel coordinates, scatter plot, heat map and importance of settings, one at a time."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QMenu, QPushButton, QTabBar, QToolButton, QWidget

from studio.windows.controls import PageCard, Stack
from studio.windows.runs.diagrams.choices_bar import AxesMenu, ChoiceBar, ColumnChoice, FrontMenu
from studio.windows.runs.diagrams.importance_part import ImportancePart
from widgets import theme
from widgets.cards import Chip
from widgets.diagram import Diagram
from widgets.heat_map import HeatMap
from widgets.icons import set_icon
from widgets.labels import mute
from widgets.layouts import horizontal, vertical
from widgets.parallel import ParallelCoordinates
from widgets.retranslated import Retranslated
from widgets.scatter import ColumnScatter

KINDS = ("parallel", "scatter", "heat map", "importance")


class DiagramsPanel(Retranslated, PageCard):
    """Passive: it shows what it is given. ``kind_chosen`` carries one of ``KINDS``, ``choice`` a field of the
    choices and its value; ``export_requested`` is copy or save, ``selected`` carries the keys of runs that
    were selected in any diagram, ``run_clicked`` that of a run that was clicked."""

    kind_chosen = Signal(str)
    choice = Signal(str, object)
    selected = Signal(list)
    run_clicked = Signal(str)
    curves_requested = Signal()
    export_requested = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.tabs = QTabBar()
        for _ in KINDS:
            self.tabs.addTab("")
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        self.parallel, self.scatter, self.heat_map = ParallelCoordinates(), ColumnScatter(), HeatMap()
        self.importance = ImportancePart()
        self.axes = AxesMenu()
        self.lists = {
            "color": ColumnChoice(lambda: self.tr("Colour")),
            "x": ColumnChoice(lambda: self.tr("Across")),
            "y": ColumnChoice(lambda: self.tr("Up")),
            "scatter_color": ColumnChoice(lambda: self.tr("Colour")),
            "across": ColumnChoice(lambda: self.tr("Across")),
            "up": ColumnChoice(lambda: self.tr("Up")),
            "cell_metric": ColumnChoice(lambda: self.tr("Value")),
            "statistic": ColumnChoice(lambda: self.tr("Of each cell")),
            "target": ColumnChoice(lambda: self.tr("Importance for")),
        }
        self.logs = {"log_x": Chip(checkable=True), "log_y": Chip(checkable=True)}
        self.front = FrontMenu()
        self.left_out = mute(wrap=True)
        self.left_out.hide()
        self.count, self.curves = mute(), QPushButton()
        self._selected = 0
        self.clear, self.export = QToolButton(), QToolButton()
        self._bars: list[ChoiceBar] = []
        self._stack = Stack(
            self._part(ChoiceBar(self.axes, self.lists["color"]), self.parallel),
            self._part(
                ChoiceBar(
                    self.lists["x"],
                    self.lists["y"],
                    self.lists["scatter_color"],
                    *self.logs.values(),
                    self.front,
                ),
                self.scatter,
            ),
            self._part(
                ChoiceBar(*(self.lists[name] for name in ("across", "up", "cell_metric", "statistic"))),
                self.heat_map,
                self.left_out,
            ),
            self._part(ChoiceBar(self.lists["target"]), self.importance),
        )
        self._lay_out()
        self._connect()
        self.retranslate()
        self.show_selection(0, 0)

    def _part(self, choices: ChoiceBar, content: QWidget, *below: QWidget) -> QWidget:
        part = QWidget()
        self._bars.append(choices)
        layout = vertical(part, 0)
        layout.addWidget(choices)
        layout.addWidget(content, 1)
        for widget in below:
            layout.addWidget(widget)
        return part

    def _lay_out(self) -> None:
        set_icon(self.export, "export", "mute")
        set_icon(self.curves, "chart", "text")
        set_icon(self.clear, "cancel", "mute")
        self.export.setProperty("role", "menu")
        self.export.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.export.setMenu(QMenu(self))
        self._copy = self.export.menu().addAction("", lambda: self.export_requested.emit("copy"))
        self._save = self.export.menu().addAction("", lambda: self.export_requested.emit("save"))
        tools = QWidget()
        row = horizontal(tools, 0)
        for widget in (self.count, self.clear, self.curves, self.export):
            row.addWidget(widget)
        self._head = ChoiceBar(self.tabs, tools)
        self.body.addWidget(self._head)
        self.body.addWidget(self._stack, 1)

    def _connect(self) -> None:
        self.tabs.currentChanged.connect(lambda place: self.kind_chosen.emit(KINDS[place]))
        for diagram in self.diagrams():
            diagram.selected.connect(self.selected)
            diagram.row_clicked.connect(self.run_clicked)
            diagram.save_requested.connect(lambda: self.export_requested.emit("save"))
        for name, choice in self.lists.items():
            choice.chosen.connect(lambda value, name=name: self.choice.emit(name, value))
        for name, chip in self.logs.items():
            chip.toggled.connect(lambda on, name=name: self.choice.emit(name, on))
        self.axes.chosen.connect(lambda names: self.choice.emit("axes", tuple(names)))
        self.parallel.axes_changed.connect(lambda: self.choice.emit("axes", tuple(self.parallel.axes())))
        self.parallel.axes_changed.connect(lambda: self.choice.emit("forms", self.parallel.forms()))
        self.parallel.color_requested.connect(lambda name: self.choice.emit("color", name))
        self.front.shown.connect(lambda on: self.choice.emit("front", on))
        self.clear.clicked.connect(lambda: self.selected.emit([]))
        self.curves.clicked.connect(self.curves_requested)

    def minimumSizeHint(self) -> QSize:
        """Lines of choices that wrap need their height, which a layout does not ask for."""
        least = super().minimumSizeHint()
        room = self.width() - 2 * theme.SPACE_M
        wrapped = sum(each.wrapped(room) for each in (self._head, self._bars[self._stack.currentIndex()]))
        return QSize(least.width(), least.height() + wrapped)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    def diagrams(self) -> tuple[Diagram, ...]:
        """The diagrams in which runs are selected."""
        return self.parallel, self.scatter, self.heat_map

    def diagram(self) -> Diagram | None:
        """The diagram that is shown; None for the importance of settings."""
        shown = self.tabs.currentIndex()
        return self.diagrams()[shown] if shown < len(self.diagrams()) else None

    def show_kind(self, kind: str) -> None:
        """Show one of ``KINDS``."""
        blocker = QSignalBlocker(self.tabs)
        self.tabs.setCurrentIndex(KINDS.index(kind))
        self._stack.setCurrentIndex(KINDS.index(kind))
        self._save.setEnabled(self.diagram() is not None)
        blocker.unblock()
        self.updateGeometry()

    def show_logs(self, on: dict[str, bool], possible: dict[str, bool]) -> None:
        """Show which axes of the scatter plot are logarithmic, and which can be."""
        for name, chip in self.logs.items():
            blocker = QSignalBlocker(chip)
            chip.setChecked(on[name])
            chip.setEnabled(possible[name])
            blocker.unblock()
            chip.update()

    def show_left_out(self, words: str) -> None:
        """Say which runs the heat map omits; empty for none."""
        self.left_out.setText(words)
        self.left_out.setVisible(bool(words))

    def show_selection(self, selected: int, runs: int) -> None:
        """Say how many runs are selected."""
        words = self.tr("{0} of {1} selected") if selected else self.tr("{1} runs")
        if runs == 1 and not selected:
            words = self.tr("1 run")
        numbers = theme.format_number(selected), theme.format_number(runs)
        self.count.setText(words.format(*numbers) if runs else "")
        self.curves.setEnabled(selected > 0)
        self.clear.setEnabled(selected > 0)
        self._selected = selected
        self._explain_curves()

    def _explain_curves(self) -> None:
        if self._selected:
            words = self.tr("Draw the selected runs on the page Train")
        else:
            words = self.tr("Select runs in the table or in a diagram first")
        self.curves.setToolTip(words)

    def set_current(self, key: str) -> None:
        """Mark the run that all pages show in all diagrams."""
        for diagram in self.diagrams():
            diagram.set_current(key)

    def set_selection(self, keys: Sequence[str]) -> None:
        """Highlight runs in all diagrams."""
        for diagram in self.diagrams():
            diagram.set_selection(keys)

    def retranslate(self) -> None:
        """Set all words, in the current language."""
        tr = self.tr
        titles = (tr("Parallel"), tr("Scatter"), tr("Heat map"), tr("Importance"))
        tips = (
            tr("Lines over an axis for each column"),
            tr("Points over two columns, with the Pareto front"),
            tr("A result over two settings"),
            tr("How much each setting matters for a result"),
        )
        for place, (title, tip) in enumerate(zip(titles, tips, strict=True)):
            self.tabs.setTabText(place, title)
            self.tabs.setTabToolTip(place, tip)
        self.tabs.setAccessibleName(tr("Diagrams"))
        self.axes.setText(tr("Axes"))
        self.axes.setToolTip(tr("Choose the columns that are axes"))
        self.logs["log_x"].setText(tr("Log across"))
        self.logs["log_y"].setText(tr("Log up"))
        self.logs["log_x"].setToolTip(tr("Make the axis across logarithmic"))
        self.logs["log_y"].setToolTip(tr("Make the axis up logarithmic"))
        self.front.retranslate()
        self.front.setToolTip(tr("Show the runs that no other run beats in both columns"))
        self.curves.setText(tr("Show curves"))
        self._explain_curves()
        self.clear.setToolTip(tr("Clear selection"))
        self.clear.setAccessibleName(self.clear.toolTip())
        self.export.setToolTip(tr("Copy or save the diagram"))
        self.export.setAccessibleName(self.export.toolTip())
        self._copy.setText(tr("Copy"))
        self._save.setText(tr("Save as image…"))
        for choice in self.lists.values():
            choice.retranslate()
