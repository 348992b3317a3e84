"""From alerts and looks at layers to the layer on the page Graph."""

from __future__ import annotations

from PySide6.QtCore import QObject

from studio.controllers.frame import FrameController
from studio.controllers.output import OutputController
from studio.session.session import Session
from studio.windows.train.layers_panel import LayersPanel


class LayerLinks(QObject):
    """Opens the page when a layer is asked for."""

    def __init__(
        self, session: Session, panel: LayersPanel, output: OutputController, frame: FrameController
    ) -> None:
        super().__init__(panel)
        self._session, self._frame = session, frame
        panel.layer_asked.connect(lambda layer: self._show(session.selected_run, layer))
        output.layer_asked.connect(lambda layer: self._show("", layer))

    def _show(self, folder: str, layer: str) -> None:
        """Show a layer of a run, by default of the one that trains."""
        self._frame.show_page("graph")
        self._session.graph_tools.show_layer(folder or self._session.train.folder, layer)
