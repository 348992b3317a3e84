"""Curves, a confusion matrix and images as texts that stand in an HTML page."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from resources.quantities import percent
from studio.session.runs.report.report_data import Series

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WIDTH, HEIGHT = 560, 240
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 12, 30
BUCKETS = 280
MOST_CELLS = 40
MOST_DOTS = 1000


def curves(title: str, series: Sequence[Series]) -> str:
    """An SVG image of the series; of a long one the band from its least to its largest value and the means
    of as many parts as there are columns. Its colours are classes of the page."""
    if not series:
        return ""
    xs = [x for each in series for x in each.xs]
    ys = [y for each in series for y in each.ys]
    low, high = _range(ys)
    first, last = min(xs), max(max(xs), min(xs) + 1)

    def at(x: float, y: float) -> str:
        across = LEFT + (x - first) / (last - first) * (WIDTH - LEFT - RIGHT)
        down = TOP + (high - y) / (high - low) * (HEIGHT - TOP - BOTTOM)
        return f"{across:.1f},{down:.1f}"

    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title, quote=True)}">']
    for tick in _ticks(low, high):
        y = TOP + (high - tick) / (high - low) * (HEIGHT - TOP - BOTTOM)
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for tick in _ticks(first, last):
        x = LEFT + (tick - first) / (last - first) * (WIDTH - LEFT - RIGHT)
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - 16}" text-anchor="middle">{tick:g}</text>')
    parts.append(f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 4}" text-anchor="end">step</text>')
    for number, each in enumerate(series):
        columns = _columns(each)
        if len(columns) < len(each.xs):
            upper = [at(x, most) for x, _, _, most in columns]
            lower = [at(x, least) for x, _, least, _ in reversed(columns)]
            parts.append(f'<polygon class="band s{number}" points="{" ".join(upper + lower)}"/>')
        line = " ".join(at(x, mean) for x, mean, _, _ in columns)
        parts.append(f'<polyline class="line s{number}" points="{line}"/>')
        for x, mean, _, _ in columns if len(each.xs) <= 40 else ():
            cx, cy = at(x, mean).split(",")
            parts.append(f'<circle class="dot s{number}" cx="{cx}" cy="{cy}" r="2.5"/>')
    return "".join([*parts, "</svg>"])


def scatter(title: str, true: NDArray[Any], predicted: NDArray[Any]) -> str:
    """An SVG image of numbers, predicted over true, with the line on which both are equal; of many the first
    ones, evenly."""
    import numpy as np

    sound = np.isfinite(true) & np.isfinite(predicted)
    xs, ys = (np.asarray(each[sound], np.float64) for each in (true, predicted))
    if not len(xs):
        return ""
    chosen = np.unique(np.linspace(0, len(xs) - 1, min(len(xs), MOST_DOTS)).astype(np.int64))
    low, high = _range([*xs.tolist(), *ys.tolist()])

    def at(x: float, y: float) -> tuple[float, float]:
        across = LEFT + (x - low) / (high - low) * (WIDTH - LEFT - RIGHT)
        return across, TOP + (high - y) / (high - low) * (HEIGHT - TOP - BOTTOM)

    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title, quote=True)}">']
    for tick in _ticks(low, high):
        x, y = at(tick, tick)
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - 16}" text-anchor="middle">{tick:g}</text>')
    parts.append(f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 4}" text-anchor="end">true</text>')
    (x1, y1), (x2, y2) = at(low, low), at(high, high)
    parts.append(f'<path class="line s1" d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"/>')
    for place in chosen.tolist():
        x, y = at(xs[place], ys[place])
        parts.append(f'<circle class="dot s0" cx="{x:.1f}" cy="{y:.1f}" r="2"/>')
    return "".join([*parts, "</svg>"])


def _columns(series: Series) -> list[tuple[float, float, float, float]]:
    """Step, mean, least and largest value of parts of equal length."""
    count = len(series.xs)
    size = max(1, math.ceil(count / BUCKETS))
    parts = [(series.xs[i : i + size], series.ys[i : i + size]) for i in range(0, count, size)]
    return [(sum(x) / len(x), sum(y) / len(y), min(y), max(y)) for x, y in parts]


def _range(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    if high - low < 1e-12 * max(1.0, abs(high)):
        room = max(0.5, 1e-3 * abs(high))  # half of one is nothing next to 1e18
        return low - room, high + room
    room = 0.04 * (high - low)
    return low - room, high + room


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers between the two, four to eight of them."""
    raw = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * each for each in (1, 2, 5, 10) if power * each >= raw)
    first = math.ceil(low / step)
    return [round(number * step, 12) for number in range(first, math.floor(high / step) + 1)]


def matrix(counts: NDArray[Any], names: Sequence[str]) -> str:
    """A table with recall and precision; of many classes an image and the most frequent mistakes."""
    if len(names) > MOST_CELLS:
        return _matrix_image(counts, names)
    totals, taken = counts.sum(axis=1), counts.sum(axis=0)
    rows = [
        "<tr><th></th>",
        *(f'<th scope="col">{escape(name)}</th>' for name in names),
        '<th scope="col">recall</th></tr>',
    ]
    for row, name in enumerate(names):
        rows.append(f'<tr><th scope="row">{escape(name)}</th>')
        for column in range(len(names)):
            count = int(counts[row, column])
            share = count / totals[row] if totals[row] else 0.0
            strength = 0.06 + 0.94 * share**0.75 if count else 0.0
            kind = "c strong" if strength > 0.55 else "c"
            rows.append(f'<td class="{kind}" style="--s:{100 * strength:.0f}%">{count or ""}</td>')
        rows.append(f"<td>{_share(counts[row, row], totals[row])}</td></tr>")
    ends = "".join(f"<td>{_share(counts[i, i], taken[i])}</td>" for i in range(len(names)))
    rows.append(f'<tr><th scope="row">precision</th>{ends}<td></td></tr>')
    return f'<div class="wide"><table class="matrix">{"".join(rows)}</table></div>'


def _share(part: int, whole: int) -> str:
    return percent(part / whole) if whole else "\u2013"


def _matrix_image(counts: NDArray[Any], names: Sequence[str]) -> str:
    import numpy as np

    totals = np.maximum(counts.sum(axis=1, keepdims=True), 1)
    shares = np.where(counts > 0, 0.06 + 0.94 * (counts / totals) ** 0.75, 0.0)
    wrong = counts.copy()
    np.fill_diagonal(wrong, 0)
    most = [np.unravel_index(place, wrong.shape) for place in np.argsort(wrong, axis=None)[::-1][:20]]
    rows = "".join(
        f"<tr><td>{escape(names[row])}</td><td>{escape(names[column])}</td><td>{wrong[row, column]}</td></tr>"
        for row, column in most
        if wrong[row, column]
    )
    image = data_uri(255 - np.rint(255 * shares).astype(np.uint8), scale=max(1, 480 // len(names)))
    return (
        f'<img class="matrix" alt="Confusion matrix of {len(names)} classes" src="{image}">'
        f"<table><tr><th>true</th><th>predicted</th><th>images</th></tr>{rows}</table>"
    )


def sequence(title: str, values: NDArray[Any]) -> str:
    """An SVG image of a sequence [steps, values]; NaN leaves a gap."""
    import numpy as np

    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    side, across = 100, 96 / max(len(values) - 1, 1)
    parts = [f'<svg viewBox="0 0 {side} {side}" role="img" aria-label="{escape(title, quote=True)}">']
    for number, column in enumerate(values.T.astype(np.float64)):
        pieces, begin = [], True
        for step, value in enumerate(column.tolist()):
            if math.isfinite(value):
                y = 2 + (high - value) / ((high - low) or 1.0) * (side - 4)
                pieces.append(f"{'M' if begin else 'L'}{2 + step * across:.1f} {y:.1f}")
            begin = not math.isfinite(value)
        parts.append(f'<path class="line s{number % 2}" d="{"".join(pieces)}"/>')
    return "".join([*parts, "</svg>"])


def data_uri(pixels: NDArray[np.uint8], scale: int = 1) -> str:
    """An image, uint8 [H, W] or [H, W, 3], as a PNG file in an address."""
    from PIL import Image

    image = Image.fromarray(pixels)
    if scale > 1:
        image = image.resize((image.width * scale, image.height * scale), Image.Resampling.NEAREST)
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
