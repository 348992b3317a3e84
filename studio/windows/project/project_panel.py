"""The left dock: the project, its runs, and the Program of the model."""

from __future__ import annotations

from PySide6.QtCore import QLocale, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QSizePolicy,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from studio.windows.controls import ValueLabel
from studio.windows.runs.run_strip import RunStrip
from studio.windows.runs.runs_filter import RunsFilter
from studio.windows.runs.runs_list import RunsList
from widgets import theme
from widgets.icons import set_icon
from widgets.labels import mute, section
from widgets.layouts import vertical
from widgets.program_tree import ProgramTree
from widgets.retranslated import Retranslated

RUNS_SHARE = 2  # of the height for each one of the Program, up to that of all runs
FILTER_FROM = 4  # runs, from which on a filter is offered


class _ShapeDelegate(QStyledItemDelegate):
    """Shapes small and without spaces, at the right: a dock is narrow."""

    def displayText(self, value: object, locale: QLocale | QLocale.Language) -> str:
        return str(value).replace(", ", ",")

    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        option.font = theme.font(theme.SECTION_PX)  # type: ignore[attr-defined]
        option.displayAlignment = (  # type: ignore[attr-defined]
            Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        )


class ProjectPanel(Retranslated, QFrame):
    """``new_run_requested`` and ``graph_requested`` are the two offers of the dock."""

    new_run_requested = Signal()
    graph_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.project = ValueLabel()
        self._runs_title, self._program_title = section(), section()
        self.filter, self.runs, self.strip = RunsFilter(), RunsList(), RunStrip()
        self._no_runs = mute(wrap=True)
        self.new_run = QPushButton()
        self.new_run.setProperty("role", "row")
        self.new_run.clicked.connect(self.new_run_requested)
        self.tree = ProgramTree()
        self.tree.set_compact(True)
        self.tree.filter_box.hide()
        # It gets what the runs leave.
        self.tree.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Ignored)
        self.tree.view.setIndentation(10)
        self.tree.view.setAllColumnsShowFocus(False)
        # Shapes need what they need, the names get the rest.
        self.tree.view.setItemDelegateForColumn(1, _ShapeDelegate(self.tree.view))
        self.tree.view.header().setMinimumSectionSize(60)
        self.tree.view.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.program_name, self._no_program = mute(wrap=True), mute(wrap=True)
        for label in (self.program_name, self._no_program):  # a long name does not widen the dock
            policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            policy.setHeightForWidth(True)
            label.setSizePolicy(policy)
        self.show_graph = QPushButton()
        set_icon(self.show_graph, "graph")
        self.show_graph.clicked.connect(self.graph_requested)
        self._why = self._offer = ""
        self._empty = QWidget()
        self._program = QWidget()
        self._build()
        self.retranslate()
        self.set_has_program(False)
        self.show_program_state("", "", "")

    def _build(self) -> None:
        layout = vertical(self, (theme.SPACE_M, 0, theme.SPACE_M, theme.SPACE_S), theme.SPACE_XS)
        self.project.setContentsMargins(theme.SPACE_S, theme.SPACE_XS, 0, theme.SPACE_XS)
        self._no_runs.setContentsMargins(theme.SPACE_S, theme.SPACE_XS, 0, 0)
        layout.addWidget(self.project)
        layout.addSpacing(theme.SPACE_XS)
        layout.addWidget(self._runs_title)
        layout.addWidget(self.filter)
        layout.addWidget(self.runs, RUNS_SHARE)
        layout.addWidget(self.strip)
        layout.addWidget(self._no_runs)
        layout.addWidget(self.new_run)
        layout.addSpacing(theme.SPACE_XS)
        program = vertical(self._program, 0, theme.SPACE_XS)
        program.addWidget(self._program_title)
        self.program_name.setContentsMargins(theme.SPACE_S, 0, 0, 0)
        program.addWidget(self.program_name)
        program.addWidget(self.tree, 1)
        program.addWidget(self._empty)
        program.addStretch(0)
        empty = vertical(self._empty, (theme.SPACE_S, theme.SPACE_XS, 0, 0), spacing=None)
        empty.addWidget(self._no_program)
        line = QHBoxLayout()
        line.addWidget(self.show_graph)
        line.addStretch(1)
        empty.addLayout(line)
        empty.addStretch(1)
        layout.addWidget(self._program)
        layout.addStretch(0)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self.runs.setContextMenuPolicy(Qt.ContextMenuPolicy.DefaultContextMenu)

    def set_counts(self, shown: int, there: int) -> None:
        """Say that there are none yet, or that the filter leaves none; what few runs need no filter for."""
        self._no_runs.setVisible(not shown)
        self._no_runs.setText(
            self.tr("All {0} runs are filtered out: change the filter, or show hidden runs.").format(there)
            if there
            else self.tr("No runs yet. Start trains the first one.")
        )
        self.filter.setVisible(there >= FILTER_FROM or bool(self.filter.box.text()) or shown < there)

    def set_has_program(self, there: bool) -> None:
        """Show the tree, or the offer to make one."""
        layout = self.layout()
        assert isinstance(layout, QBoxLayout)
        layout.setStretchFactor(self._program, 1 if there else 0)
        self.tree.setVisible(there)
        self._empty.setVisible(not there)

    def show_program_state(self, name: str, why: str, offer: str) -> None:
        """Name what the Program is of, and say why there is none, with a button where there is something to
        ``offer``; without a reason the offer to trace the model."""
        self.program_name.setText(name)
        self.program_name.setVisible(bool(name))
        self._why, self._offer = why, offer
        self._show_offer()

    def _show_offer(self) -> None:
        self._no_program.setText(self._why or self.tr("The model's Program of operators appears here."))
        self.show_graph.setText(self._offer if self._why else self.tr("Show graph"))
        self.show_graph.setVisible(bool(self._offer) or not self._why)

    def shows_program(self) -> bool:
        """Whether the part with the Program is on the screen."""
        return self._program.isVisible()

    def open_block(self) -> None:
        """A Program of one block shows it alone: a level less in a narrow dock."""
        view, model = self.tree.view, self.tree.view.model()
        blocks = self.tree.program().blocks
        program = model.index(0, 0)
        view.setRootIndex(model.index(0, 0, program) if len(blocks) == 1 else program)

    def set_program_visible(self, visible: bool) -> None:
        """The page Graph has a tree of its own, with all columns."""
        self._program.setVisible(visible)

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self._runs_title.setText(self.tr("Runs"))
        self._program_title.setText(self.tr("Program"))
        self.new_run.setText(self.tr("+ New run"))
        self.new_run.setAccessibleName(self.tr("New run"))
        self.new_run.setToolTip(self.tr("Choose settings for another run"))
        self.runs.setAccessibleName(self.tr("Runs"))
        self._show_offer()
        self.show_graph.setToolTip(self.tr("Trace the model and show its Program"))
