"""The tab Layers: follows the training's looks at its layers, or shows those of another run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import QObject

from resources.words import shown
from studio.controllers.bindings import Bindings
from studio.session.session import Session
from studio.session.train.layers_view import LayersViewModel
from studio.windows.train.layers_panel import LayersPanel


class LayersController(QObject):
    """Follows the live training, also while another run is looked at."""

    def __init__(self, session: Session, panel: LayersPanel) -> None:
        super().__init__(panel)
        self._panel, self._live, self._other = panel, LayersViewModel(), LayersViewModel()
        self._model = self._other
        self._bonds = Bindings()
        self._bonds.follow(session.train.layers, self._live.take)
        for model in (self._live, self._other):
            self._bonds.follow(model.changed, partial(self._show, model))

    def show_live(self) -> None:
        """Show the training that goes on or ended last."""
        self._model = self._live
        self._show(self._live)

    def show_run(self, events: Sequence[Mapping[str, Any]]) -> None:
        """Show the layers in the journal of another run."""
        self._model = self._other
        self._other.show(events)

    def begin(self, events: Sequence[Mapping[str, Any]] = ()) -> None:
        """Another training begins; ``events`` are those of a run that goes on."""
        self._live.show(events)

    def _show(self, model: LayersViewModel) -> None:
        if model is self._model:
            alerts = [replace(alert, message=shown(alert.message)) for alert in model.alerts]
            self._panel.show_looks(model.looks, alerts, model.history)

    def close(self) -> None:
        """Follow the session no longer."""
        self._bonds.release()
