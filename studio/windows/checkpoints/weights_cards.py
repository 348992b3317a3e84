"""The cards of a layer's weights: its values, and the differences to the checkpoint before."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QSizePolicy, QWidget

from studio.session.checkpoints.weight_view import Distribution, WeightView
from studio.windows.controls import PageCard, Stack
from widgets import theme
from widgets.cards import EmptyState
from widgets.distribution import Histogram
from widgets.labels import mute
from widgets.layouts import vertical
from widgets.retranslated import Retranslated
from widgets.tensor_view import ImageGrid, Planes

LEAST = 72
LETTERS = 10  # of a layer's name that are seen at least


class _WeightsCard(PageCard):
    """Images of filters, or of a matrix with its distribution, or that of a vector alone; words below."""

    def __init__(self, color: int) -> None:
        super().__init__()
        self.grid, self.histogram = ImageGrid(), Histogram(color)
        self.none = EmptyState("")
        self._note = mute()
        self._note.setFont(theme.font(theme.SECTION_PX))
        self.grid.setMinimumHeight(LEAST)
        self._shown = QWidget()
        parts = vertical(self._shown, 0)
        parts.addWidget(self.grid, 3)
        parts.addWidget(self.histogram, 2)
        self._stack = Stack(self.none, self._shown)
        self.body.addWidget(self._stack, 1)
        self.body.addWidget(self._note)

    def show_planes(self, planes: Planes, found: Distribution, note: str) -> None:
        self.grid.set_planes(planes)
        self.grid.setAccessibleDescription(self.accessibleName())
        self.grid.show()
        self.histogram.setVisible(planes.total == 1)
        self._show(found, "", note)

    def show_distribution(self, found: Distribution, title: str, note: str) -> None:
        self.grid.hide()
        self.histogram.show()
        self._show(found, title, note)

    def show_nothing(self, why: str) -> None:
        self.none.set_text(why)
        self._stack.setCurrentWidget(self.none)
        self._note.hide()

    def note(self) -> str:
        """What the line below says."""
        return self._note.text()

    def _show(self, found: Distribution, title: str, note: str) -> None:
        self.none.set_text("")
        self._stack.setCurrentWidget(self._shown)
        self.histogram.set_title(title)
        self.histogram.set_counts(found.range.low, found.range.high, found.counts, found.not_finite)
        self._note.setText(note)
        self._note.setVisible(bool(note))


class WeightsCards(Retranslated, QWidget):
    """Two cards: ``values`` of the chosen layer, and ``changes``, which ``parent`` places; it is not visible
    itself. ``layer_chosen`` carries the name of another layer."""

    layer_chosen = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.hide()
        self.values, self.changes = _WeightsCard(0), _WeightsCard(1)
        self.layers = QComboBox()
        self.layers.setMinimumContentsLength(LETTERS)
        self.layers.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.layers.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.values.header.addWidget(self.layers, 0, Qt.AlignmentFlag.AlignVCenter)
        self.layers.activated.connect(lambda at: self.layer_chosen.emit(str(self.layers.itemData(at))))
        self._view: WeightView | None = None
        self._why = ""
        self.retranslate()

    def set_layers(self, layers: Sequence[tuple[str, tuple[int, ...]]], chosen: str) -> None:
        """Offer these layers, by name and shape."""
        blocker = QSignalBlocker(self.layers)
        if [self.layers.itemData(at) for at in range(self.layers.count())] != [name for name, _ in layers]:
            self.layers.clear()
            for name, shape in layers:
                self.layers.addItem(f"{name}  {_shape(shape)}", name)
        self.layers.setCurrentIndex(self.layers.findData(chosen))
        blocker.unblock()

    def show_weights(self, view: WeightView | None, why: str) -> None:
        """Show a layer at a checkpoint; without one, why there is none (empty while it is read)."""
        self._view, self._why = view, why
        tr = self.tr
        if view is None:
            self.values.show_nothing(why or tr("Reading the weights…"))
            self.changes.show_nothing(why)
            return
        if view.is_images:
            scale = view.scale
            planes = Planes(view.planes, 0, view.total, low=scale.low, high=scale.high, step=view.stride)
            self.values.show_planes(planes, view.distribution, self._shown_part(view))
        else:
            self.values.show_distribution(view.distribution, view.layer, "")
        self._show_changes(view)

    def _shown_part(self, view: WeightView) -> str:
        if view.total > len(view.planes):
            return self.tr("The first {0} of {1}").format(len(view.planes), theme.format_number(view.total))
        return self.tr("One scale for all checkpoints")

    def _show_changes(self, view: WeightView) -> None:
        tr = self.tr
        if view.before < 0:
            self.changes.set_title(tr("Change", "of weights"))
            self.changes.show_nothing(tr("There is no checkpoint before this one."))
            return
        self.changes.set_title(tr("Change since step {0}").format(theme.format_number(view.before)))
        share = theme.format_number(100 * view.change, digits=3)
        note = tr("{0} % of the norm of the weights").format(share) if view.change == view.change else ""
        if view.is_images:
            scale = view.difference_scale
            planes = Planes(view.differences, 0, view.total, low=scale.low, high=scale.high, step=view.stride)
            self.changes.show_planes(planes, view.difference_distribution, note)
        else:
            self.changes.show_distribution(view.difference_distribution, tr("Change", "of weights"), note)

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self.values.set_title(tr("Weights"))
        self.changes.set_title(tr("Change", "of weights"))
        self.layers.setAccessibleName(tr("Layer"))
        self.layers.setToolTip(tr("The layer whose weights are shown"))
        self.show_weights(self._view, self._why)


def _shape(shape: tuple[int, ...]) -> str:
    return "\u00d7".join(map(str, shape)) or "1"
