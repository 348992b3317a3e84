"""The tab Layers: follows the training's looks at its layers, or shows those of another run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QObject

from studio.controllers.bindings import Bindings
from studio.session.session import Session
from studio.session.train.layers_view import LayersViewModel
from studio.windows.train.layers_panel import LayersPanel


class LayersController(QObject):
    """Keeps the live training's events, so that another run can be looked at meanwhile."""

    def __init__(self, session: Session, panel: LayersPanel) -> None:
        super().__init__(panel)
        self._panel, self._model = panel, LayersViewModel()
        self._live: list[Mapping[str, Any]] = []
        self._follows = False
        self._bonds = Bindings()
        self._bonds.follow(session.train.layers, self._take)
        self._bonds.follow(self._model.changed, self._show)

    def show_live(self) -> None:
        """Show the training that goes on or ended last."""
        self._follows = True
        self._model.show(self._live)

    def show_run(self, events: Sequence[Mapping[str, Any]]) -> None:
        """Show the layers in the journal of another run."""
        self._follows = False
        self._model.show(events)

    def begin(self, events: Sequence[Mapping[str, Any]] = ()) -> None:
        """Another training begins; ``events`` are those of a run that goes on."""
        self._live = list(events)

    def _take(self, event: Mapping[str, Any]) -> None:
        self._live.append(event)
        if self._follows:
            self._model.take(event)

    def _show(self) -> None:
        self._panel.show_looks(self._model.looks, self._model.alerts, self._model.history)

    def close(self) -> None:
        """Follow the session no longer."""
        self._bonds.release()
