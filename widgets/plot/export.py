"""Writing all points of a plot as CSV. No Qt."""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from widgets.plot.series import Series


def write_csv(path: str | Path, x_label: str, series: Iterable[Series]) -> None:
    """Write one point a line: series, x, value. The file is whole or unchanged; raises OSError."""
    target = Path(path)
    handle, part = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["series", x_label, "value"])
            for one in series:
                xs, ys = one.xs.view().tolist(), one.ys.view().tolist()
                steps = (int(x) if x.is_integer() else x for x in xs)
                writer.writerows((one.label, x, y) for x, y in zip(steps, ys, strict=True))
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
    except BaseException:
        os.unlink(part)
        raise
