"""Writing all points of a plot as CSV. No Qt."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Callable, Iterable
from pathlib import Path

from resources.replacing import replaced_file
from widgets.plot.series import Series


def csv_writer(x_label: str, series: Iterable[Series]) -> Callable[[Path], None]:
    """What writes the points that there are now, one a line: series, x, value. It may be called in any
    thread; the file is whole or unchanged. It raises OSError."""
    points = [(one.label, one.xs.view(), one.ys.view()) for one in series]

    def write(path: Path) -> None:
        with replaced_file(path) as file:
            writer = csv.writer(codecs.getwriter("utf-8")(file))
            writer.writerow(["series", x_label, "value"])
            for label, xs, ys in points:
                steps = (int(x) if x.is_integer() else x for x in xs.tolist())
                writer.writerows((label, x, y) for x, y in zip(steps, ys.tolist(), strict=True))

    return write
