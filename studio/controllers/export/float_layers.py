"""A right click on an operator in a Program tree leaves its layer in float when the run is quantized."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QObject, QPoint
from PySide6.QtWidgets import QMenu

from studio.session.session import Session
from widgets.program_tree import ProgramTree


class FloatLayersController(QObject):
    """Offers one tick in the menu of operators that have a weight."""

    def __init__(self, session: Session, trees: Iterable[ProgramTree], parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        for tree in trees:
            tree.menu_requested.connect(lambda place, at, tree=tree: self._open(tree, place, at))

    def _open(self, tree: ProgramTree, place: tuple[int, int], at: QPoint) -> None:
        layer = self._session.quantization.layer_of(place)
        if not layer:
            return
        menu = QMenu(tree)
        action = menu.addAction(self.tr("Keep {0} in float when quantizing").format(layer))
        action.setCheckable(True)
        action.setChecked(self._session.export.choices.skips(layer))
        action.toggled.connect(lambda on: self._session.export.leave_in_float(layer, on))
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(at)
