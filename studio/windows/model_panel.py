"""The right dock beside Predict: the models used lately, and what the files of the loaded one say."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Signal
from PySide6.QtWidgets import QFrame, QPushButton, QVBoxLayout, QWidget

from studio.windows.controls import Facts, mute, section
from studio.windows.runs_list import RunRow, RunsList
from widgets import theme
from widgets.icons import set_icon


class ModelPanel(QFrame):
    """``model_chosen`` carries a prefix; ``graph_requested`` asks for the Program of the loaded files."""

    model_chosen = Signal(str)
    graph_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.models = RunsList(dots=False)
        self._none = mute(wrap=True)
        self._files_title = section()
        self.facts = Facts()
        self.graph_button = QPushButton()
        set_icon(self.graph_button, "graph")
        self.graph_button.clicked.connect(self.graph_requested)
        self.models.chosen_changed.connect(lambda keys: self.model_chosen.emit(keys[0]) if keys else None)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_M, 0, theme.SPACE_M, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_S)
        layout.addWidget(self.models)
        layout.addWidget(self._none)
        layout.addSpacing(theme.SPACE_XS)
        layout.addWidget(self._files_title)
        layout.addWidget(self.facts)
        layout.addWidget(self.graph_button)
        layout.addStretch(1)
        self.set_models([], "")
        self.set_facts([])
        self.retranslate()

    def set_models(self, models: list[tuple[str, str, str]], loaded: str) -> None:
        """Recent models: (prefix, title, place); the loaded one is chosen."""
        self.models.blockSignals(True)
        self.models.set_rows([RunRow(prefix, title, place, 0, prefix) for prefix, title, place in models])
        self.models.choose(loaded)
        self.models.blockSignals(False)
        self._none.setVisible(not models)

    def set_facts(self, rows: list[tuple[str, str]]) -> None:
        """What the files say."""
        self.facts.set_rows(rows)
        self._files_title.setVisible(bool(rows))
        self.graph_button.setVisible(bool(rows))

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self.models.setAccessibleName(self.tr("Recent models"))
        self._none.setText(self.tr("Models that were exported or loaded come here."))
        self._files_title.setText(self.tr("Inference files"))
        self.graph_button.setText(self.tr("Show its graph"))

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
        super().changeEvent(event)
