"""Curves in words: the summary for people who can't see them, and the rows of the read-out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape
from typing import TypeAlias

import numpy as np
from PySide6.QtCore import QCoreApplication

from resources import quantities
from widgets import theme
from widgets.plot.series import Series

# Writes a value of a curve.
Write: TypeAlias = Callable[[float], str]


def _tr(text: str) -> str:
    return QCoreApplication.translate("CurvePlot", text)


def summary(series: Iterable[Series], write: Write = quantities.number) -> str:
    """A line about each curve: how many points, the last, the lowest, the highest, the best."""
    return "\n".join(_line(one, write) for one in series)


def _line(series: Series, write: Write) -> str:
    ys = series.ys.view()
    finite = ys[np.isfinite(ys)]
    if not len(finite):
        return _tr("{0}: no points").format(series.label)
    at = quantities.number(float(series.xs.view()[-1]), digits=7)
    text = _tr("{0}: {1} points, last {2} at {3}, lowest {4}, highest {5}").format(
        series.label,
        len(series),
        write(float(ys[-1])),
        at,
        write(float(finite.min())),
        write(float(finite.max())),
    )
    best = None if series.best is None else series.nearest(series.best)
    if best is not None:
        text += _tr(", best {0} at {1}").format(
            write(float(ys[best])), quantities.number(float(series.xs.view()[best]), digits=7)
        )
    if len(finite) < len(ys):
        text += _tr(", {0} not finite").format(len(ys) - len(finite))
    return text


def rows_at(x: float, head: str, series: Iterable[Series], write: Write = quantities.number) -> str:
    """What the visible curves are at the points nearest to x, as rich text: value, and muted the average."""
    tokens = theme.current()
    rows = [f"<tr><td colspan=3 style='color:{tokens.mute}'>{escape(head)}</td></tr>"]
    for one in series:
        place = one.nearest(x) if one.visible else None
        if place is None:
            continue
        own, y = float(one.xs.view()[place]), float(one.ys.view()[place])
        where = f" @ {quantities.number(own, digits=7)}" if own != x else ""
        best = f" \u2605 {_tr('best')}" if one.best is not None and one.nearest(one.best) == place else ""
        smooth = write(float(one.smoothed[place])) if one.is_smoothed else ""
        extra = f"<td style='color:{tokens.mute}'>&nbsp;{smooth}</td>" if smooth else "<td></td>"
        dot = f"<span style='color:{theme.run_color(one.color)}'>\u25cf</span>"
        rows.append(
            f"<tr><td>{dot}&nbsp;{escape(one.label)}{where}{best}&nbsp;&nbsp;</td>"
            f"<td align=right><b>{write(y)}</b></td>{extra}</tr>"
        )
    return f"<table cellspacing=0 cellpadding=1>{''.join(rows)}</table>"
