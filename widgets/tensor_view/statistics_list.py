"""StatisticsList: the figures of a tensor, with a mark where values are NaN or infinite."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from resources import quantities
from widgets import theme
from widgets.icons import icon_pixmap
from widgets.labels import mute
from widgets.layouts import grid
from widgets.retranslated import Retranslated
from widgets.tensor_view.data import Statistics

BAD = 3  # the first rows count what is not finite


class StatisticsList(Retranslated, QWidget):
    """Names at the left, numbers at the right."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._statistics: Statistics | None = None
        layout = grid(self, 0)
        layout.setHorizontalSpacing(theme.SPACE_L)
        self._rows = [(QLabel(), mute(), QLabel()) for _ in range(10)]
        for row, parts in enumerate(self._rows):
            for column, part in enumerate(parts):
                layout.addWidget(part, row, column)
            parts[2].setFont(theme.font())
            parts[2].setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        layout.setColumnStretch(2, 1)
        layout.setRowStretch(len(self._rows), 1)
        theme.changed.connect(self.retranslate)
        self.retranslate()

    def set_statistics(self, statistics: Statistics | None) -> None:
        """Show these figures; None shows dashes."""
        self._statistics = statistics
        self.retranslate()

    def texts(self) -> dict[str, str]:
        """What is shown, by name."""
        return {name.text(): value.text() for _, name, value in self._rows}

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        found, tr = self._statistics, self.tr
        names = (
            *("NaN", "+\u221e", "\u2212\u221e", tr("Zero"), tr("Minimum"), tr("Maximum"), tr("Mean")),
            *(tr("Standard deviation"), tr("Values"), tr("Memory")),
        )
        values = [quantities.NOTHING] * len(names)
        marked = [False] * len(names)
        if found is not None:
            counts = (found.nan, found.positive_infinite, found.negative_infinite, found.zero)
            values[:4] = [_share(count, found.count) for count in counts]
            marked[:BAD] = [count > 0 for count in counts[:BAD]]
            figures = (found.minimum, found.maximum, found.mean, found.deviation)
            # Without any finite value there are none.
            finite = found.count > found.not_finite
            values[4:8] = [theme.format_number(x) if finite else quantities.NOTHING for x in figures]
            values[8:] = [theme.format_number(found.count), quantities.size(found.bytes)]
        pixmap = icon_pixmap("warning", theme.current().bad, scale=self.devicePixelRatioF())
        for (mark, name, value), title, text, bad in zip(self._rows, names, values, marked, strict=True):
            name.setText(title)
            value.setText(text)
            value.setAccessibleName(f"{title}: {text}")
            mark.clear()
            if bad:
                mark.setPixmap(pixmap)
        self.setAccessibleName(", ".join(f"{name} {value}" for name, value in self.texts().items()))


def _share(count: int, total: int) -> str:
    if not count or not total:
        return "0"
    share = f" ({quantities.percent(count / total)})" if count / total >= 5e-5 else ""
    return theme.format_number(count) + share
