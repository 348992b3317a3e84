"""The menu of an axis of parallel coordinates: its form, its position, its range, and the colour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QMenu

from widgets.parallel.axes import Axis

if TYPE_CHECKING:
    from widgets.parallel.parallel import ParallelCoordinates


def axis_menu(diagram: ParallelCoordinates, axes: Sequence[Axis], place: int) -> QMenu:
    """The menu of the axis at ``place``."""
    axis, menu = axes[place], QMenu(diagram)
    log = menu.addAction(
        diagram.tr("Logarithmic"), lambda: diagram.set_form(place, not axis.log, axis.flipped)
    )
    log.setCheckable(True)
    log.setChecked(axis.scale.log)
    known = axis.column.values[axis.column.known()]
    log.setEnabled(not axis.column.is_categorical and bool((known > 0).any()))
    flip = menu.addAction(diagram.tr("Flipped"), lambda: diagram.set_form(place, axis.log, not axis.flipped))
    flip.setCheckable(True)
    flip.setChecked(axis.flipped)
    menu.addSeparator()
    left = menu.addAction(diagram.tr("Move left"), lambda: diagram.move_axis(place, place - 1))
    right = menu.addAction(diagram.tr("Move right"), lambda: diagram.move_axis(place, place + 1))
    left.setEnabled(place > 0)
    right.setEnabled(place < len(axes) - 1)
    name = axis.column.name
    menu.addAction(diagram.tr("Colour by this column"), lambda: diagram.color_requested.emit(name))
    clear = menu.addAction(diagram.tr("Clear range"), lambda: diagram.clear_brush(place))
    clear.setEnabled(axis.brush is not None)
    return menu
