"""Writing all points of a plot as CSV. No Qt."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterable
from pathlib import Path

from resources.replacing import replaced_file
from widgets.plot.series import Series


def write_csv(path: str | Path, x_label: str, series: Iterable[Series]) -> None:
    """Write one point a line: series, x, value. The file is whole or unchanged; raises OSError."""
    with replaced_file(Path(path)) as file:
        writer = csv.writer(codecs.getwriter("utf-8")(file))
        writer.writerow(["series", x_label, "value"])
        for one in series:
            xs, ys = one.xs.view().tolist(), one.ys.view().tolist()
            steps = (int(x) if x.is_integer() else x for x in xs)
            writer.writerows((one.label, x, y) for x, y in zip(steps, ys, strict=True))
