"""A scene as SVG: text stays text, and nothing of Qt is needed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from resources import run_colors
from resources.color_map import map_colors, text_on
from resources.quantities import number
from studio.session.graph.diagram.scene import (
    BRANCH,
    LOOP,
    MORE,
    TITLE_HEIGHT,
    VALUE,
    Scene,
)
from studio.session.graph.diagram.svg_pictures import MOST_BYTES, NodePicture, picture_lines, text_high
from studio.session.graph.diagram.texts import cleaned, fitting, svg_text, text_width
from studio.session.graph.diagram.texts import svg_number as _n

Rectangle = tuple[float, float, float, float]

LINEAR, LOG = "linear", "log"
_STEPS = 32
_LEGEND = 52.0
_TALL = 40.0  # a box with room for two lines
_FONT = "-apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif"


@dataclass(frozen=True)
class SvgTheme:
    """The colours of a diagram, each ``#RRGGBB``."""

    dark: bool
    ground: str
    panel: str
    line: str
    text: str
    mute: str
    accent: str
    nested: tuple[str, str]  # grounds of frames within frames, in alternation
    phases: tuple[str, str, str]  # the edge at the left of boxes, by phase


LIGHT = SvgTheme(
    dark=False,
    ground="#F6F7F9",
    panel="#FFFFFF",
    line="#CDD3DC",
    text="#1B1F27",
    mute="#667085",
    accent="#3B5BDB",
    nested=("#EEF1F6", "#F8F9FB"),
    phases=("#3B5BDB", "#B7791F", "#1B7F5C"),
)
DARK = SvgTheme(
    dark=True,
    ground="#14171C",
    panel="#1B1F26",
    line="#3A424F",
    text="#E6E9EF",
    mute="#8B95A5",
    accent="#7C93FF",
    nested=("#191D24", "#20252E"),
    phases=("#7C93FF", "#E2B04A", "#4CC38A"),
)


@dataclass(frozen=True)
class NodeValues:
    """Numbers that colour the boxes, by node; None, NaN and absent ones are grey.

    With ``labels`` the numbers are positions in them, and each label has a colour.
    """

    values: Mapping[int, float | None] = field(default_factory=dict)
    title: str = ""
    unit: str = ""
    scale: str = LINEAR
    labels: tuple[str, ...] = ()

    def known(self) -> list[float]:
        """The numbers that have a colour."""
        found = [value for value in self.values.values() if value is not None and math.isfinite(value)]
        return [value for value in found if self.scale != LOG or value > 0]

    def text(self, value: float) -> str:
        """A number with its unit, or the label."""
        if self.labels:
            return self.labels[min(max(int(value), 0), len(self.labels) - 1)]
        return number(value, self.unit, digits=3)

    def share(self, node: int, low: float, high: float) -> float | None:
        """Where a node's number is between the least and the largest, 0 to 1."""
        value = self.values.get(node)
        if value is None or not math.isfinite(value) or (self.scale == LOG and value <= 0):
            return None
        if self.labels:
            return (min(max(int(value), 0), len(self.labels) - 1) + 0.5) / len(self.labels)
        if high <= low:
            return 0.5
        if self.scale == LOG:
            return math.log(value / low) / math.log(high / low)
        return (value - low) / (high - low)


def write_svg(
    scene: Scene,
    theme: SvgTheme = LIGHT,
    values: NodeValues | None = None,
    clip: Rectangle | None = None,
    title: str = "",
    pictures: Mapping[int, NodePicture] | None = None,
) -> str:
    """The scene as the text of an SVG file.

    Args:
        values: colour the boxes by these, with a legend.
        clip: x, y, width and height of the part to write; the whole without it.
        title: of the image, for screen readers.
        pictures: what the boxes show of computed values, by node; at most ``MOST_BYTES`` of images.
    """
    return "\n".join(_Writer(scene, theme, values, clip, pictures or {}).lines(title)) + "\n"


def save_svg(
    path: str | Path,
    scene: Scene,
    theme: SvgTheme = LIGHT,
    values: NodeValues | None = None,
    clip: Rectangle | None = None,
    title: str = "",
) -> None:
    """Write the scene to a file, as :func:`write_svg` gives it. Raises SaveError."""
    from engine.files.atomic import atomic_write

    text = write_svg(scene, theme, values, clip, title)
    atomic_write(path, lambda file: file.write(text.encode("utf-8")))


class _Writer:
    def __init__(
        self,
        scene: Scene,
        theme: SvgTheme,
        values: NodeValues | None,
        clip: Rectangle | None,
        pictures: Mapping[int, NodePicture],
    ) -> None:
        self._pictures, self._room = pictures, MOST_BYTES
        self._scene = scene
        self._theme = theme
        self._values = values if values is not None and values.known() else None
        self._clip = clip or (0.0, 0.0, max(scene.width, 1.0), max(scene.height, 1.0))
        known = self._values.known() if self._values is not None else [0.0]
        self._low, self._high = min(known), max(known)
        self._colors = map_colors(theme.dark, _STEPS)
        if values is not None and values.labels:
            runs = run_colors.DARK if theme.dark else run_colors.LIGHT
            count = len(values.labels)
            self._colors = runs[:count] if count <= len(runs) else map_colors(theme.dark, count)

    def lines(self, title: str) -> Iterator[str]:
        x, y, width, height = self._clip
        theme = self._theme
        legend = _LEGEND if self._values is not None else 0.0
        width = max(width, 260.0) if legend else width
        links = ' xmlns:xlink="http://www.w3.org/1999/xlink"' if self._pictures else ""
        yield '<?xml version="1.0" encoding="UTF-8"?>'
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg"{links} width="{_n(width)}" '
            f'height="{_n(height + legend)}" '
            f'viewBox="{_n(x)} {_n(y - legend)} {_n(width)} {_n(height + legend)}" '
            f'font-family="{_FONT}" font-size="13">'
        )
        yield f"<title>{svg_text(title)}</title>"
        yield (
            f'<rect x="{_n(x)}" y="{_n(y - legend)}" width="{_n(width)}" height="{_n(height + legend)}" '
            f'fill="{theme.ground}"/>'
        )
        rows = self._rows_in_view()
        frames = [row for row in rows if self._scene.opened[row]]
        boxes = [row for row in rows if not self._scene.opened[row]]
        depths = self._depths()
        for row in frames:
            yield from self._frame(row, depths[row])
        yield from self._edges()
        for row in boxes:
            yield from self._box(row)
            yield from self._picture(row)
        if self._values is not None:
            yield from self._legend(x, y - legend)
        yield "</svg>"

    def _rows_in_view(self) -> list[int]:
        x, y, width, height = self._clip
        left, top, wide, high = self._scene.boxes.T
        seen = (left <= x + width) & (left + wide >= x) & (top <= y + height) & (top + high >= y)
        return [int(row) for row in np.nonzero(seen)[0]]

    def _depths(self) -> list[int]:
        """How many frames are around each box: a frame comes before what is in it."""
        depths: list[int] = []
        around: list[Rectangle] = []
        for row, (x, y, width, height) in enumerate(self._scene.boxes.tolist()):
            while around and not (
                around[-1][0] <= x + width / 2 <= around[-1][2] and around[-1][1] <= y < around[-1][3]
            ):
                around.pop()
            depths.append(len(around))
            if self._scene.opened[row]:
                around.append((x, y, x + width, y + height))
        return depths

    def _frame(self, row: int, depth: int) -> Iterator[str]:
        theme, scene = self._theme, self._scene
        x, y, width, height = scene.boxes[row].tolist()
        color = self._color(row)
        stroke = theme.phases[scene.phases[row]] if scene.phases[row] else theme.line
        dash = ' stroke-dasharray="6 4"' if scene.kinds[row] in (LOOP, BRANCH) else ""
        yield (
            f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}" rx="8" '
            f'fill="{theme.nested[depth % 2]}" stroke="{color or stroke}" '
            f'stroke-width="{2 if color else 1}"{dash}/>'
        )
        text = fitting(scene.titles[row], width - 24, 13.0)
        yield (
            f'<text x="{_n(x + 12)}" y="{_n(y + TITLE_HEIGHT / 2 + 5)}" font-weight="600" '
            f'fill="{theme.text}">{svg_text(text)}</text>'
        )

    def _box(self, row: int) -> Iterator[str]:
        theme, scene = self._theme, self._scene
        x, y, width, height = scene.boxes[row].tolist()
        kind, phase = int(scene.kinds[row]), int(scene.phases[row])
        color = self._color(row)
        fill = color or (theme.ground if kind == MORE else theme.panel)
        if self._values is not None and color is None:
            fill = theme.line
        ink = text_on(fill)
        mute = ink if self._values is not None else theme.mute
        ink = ink if self._values is not None else theme.text
        high = text_high(height)
        radius = min(high, width) / 2 if kind == VALUE else 6
        dash = ' stroke-dasharray="4 3"' if kind in (MORE, LOOP, BRANCH) else ""
        group = kind not in (VALUE, MORE) and kind != 0
        if group and kind not in (LOOP, BRANCH):  # the edge of a second sheet: there is more in it
            yield (
                f'<rect x="{_n(x + 3)}" y="{_n(y + 3)}" width="{_n(width)}" height="{_n(height)}" '
                f'rx="{radius}" fill="{fill}" stroke="{theme.line}"/>'
            )
        yield (
            f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}" rx="{_n(radius)}" '
            f'fill="{fill}" stroke="{theme.phases[phase] if phase else theme.line}"{dash}/>'
        )
        note = scene.notes[row]
        value = self._value(row)
        note = value or note
        middle = x + width / 2
        room = width - 16
        low = bool(note) and high < _TALL  # its second line was not planned for
        first = y + high / 2 + (-2 if low else -3 if note else 5)
        title = fitting(scene.titles[row], room, 13.0)
        weight = ' font-weight="600"' if group else ""
        weight += ' font-size="12"' if low else ""
        yield (
            f'<text x="{_n(middle)}" y="{_n(first)}" text-anchor="middle"{weight} '
            f'fill="{ink}">{svg_text(title)}</text>'
        )
        if note:
            yield (
                f'<text x="{_n(middle)}" y="{_n(first + (13 if low else 16))}" text-anchor="middle" '
                f'font-size="{10 if low else 11}" '
                f'fill="{mute}">{svg_text(fitting(note, room, 11.0))}</text>'
            )

    def _picture(self, row: int) -> Iterator[str]:
        picture = self._pictures.get(int(self._scene.ids[row]))
        if picture is not None:
            x, y, width, height = self._scene.boxes[row].tolist()
            self._room -= len(picture.png)
            theme, fits = self._theme, self._room >= 0
            yield from picture_lines(
                picture, (x, y, width, height), theme.panel, theme.accent, theme.mute, fits
            )

    def _edges(self) -> Iterator[str]:
        scene, theme = self._scene, self._theme
        x, y, width, height = self._clip
        lines: list[str] = []
        heads: list[str] = []
        labels: dict[tuple[float, float], str] = {}
        texts_from: dict[int, set[str]] = {}
        for (source, _), text in zip(scene.edge_ends.tolist(), scene.edge_texts, strict=True):
            texts_from.setdefault(source, set()).add(text)
        for edge, (source, _) in enumerate(scene.edge_ends.tolist()):
            points = scene.edge_points[scene.edge_starts[edge] : scene.edge_starts[edge + 1]]
            if len(points) < 2:
                continue
            (left, top), (right, bottom) = points.min(0), points.max(0)
            if left > x + width or right < x or top > y + height or bottom < y:
                continue
            lines.append(curve(points.tolist()))
            (before_x, before_y), (end_x, end_y) = points[-2:].tolist()
            heads.append(_head(end_x - before_x, end_y - before_y, end_x, end_y))
            text = scene.edge_texts[edge]
            if not text:
                continue
            (start_x, start_y), (_, next_y) = points[:2].tolist()
            if start_y == next_y:
                at = start_x + 6, start_y - 4
            elif len(texts_from[source]) == 1:
                at = start_x + 6, start_y + (14 if next_y > start_y else -6)
            else:
                at = end_x + 6, end_y - (8 if end_y > before_y else -14)
            labels[round(at[0], 1), round(at[1], 1)] = text
        if not lines:
            return
        yield f'<g fill="none" stroke="{theme.mute}" stroke-width="1.2" stroke-opacity="0.7">'
        yield from (f'<path d="{line}"/>' for line in lines)
        yield "</g>"
        yield f'<path fill="{theme.mute}" d="{"".join(heads)}"/>'
        yield f'<g fill="{theme.ground}" fill-opacity="0.8">'
        for (left, base), text in labels.items():
            width = text_width(text, 10.5)
            yield f'<rect x="{_n(left - 2)}" y="{_n(base - 9)}" width="{_n(width)}" height="11" rx="2"/>'
        yield "</g>"
        yield f'<g font-size="10.5" fill="{theme.mute}">'
        for (left, base), text in labels.items():
            yield f'<text x="{_n(left)}" y="{_n(base)}">{svg_text(text)}</text>'
        yield "</g>"

    def _color(self, row: int) -> str | None:
        if self._values is None:
            return None
        share = self._values.share(int(self._scene.ids[row]), self._low, self._high)
        count = len(self._colors)
        return None if share is None else self._colors[min(count - 1, max(0, int(share * count)))]

    def _value(self, row: int) -> str:
        if self._values is None:
            return ""
        value = self._values.values.get(int(self._scene.ids[row]))
        return "" if value is None else self._values.text(value)

    def _legend(self, x: float, y: float) -> Iterator[str]:
        assert self._values is not None
        theme = self._theme
        x, step = x + 16, 200 / _STEPS
        yield f'<text x="{_n(x)}" y="{_n(y + 18)}" fill="{theme.text}">{svg_text(self._values.title)}</text>'
        if self._values.labels:
            for color, label in zip(self._colors, self._values.labels, strict=True):
                words = cleaned(label, 30)
                yield f'<rect x="{_n(x)}" y="{_n(y + 28)}" width="10" height="10" rx="3" fill="{color}"/>'
                yield (
                    f'<text x="{_n(x + 14)}" y="{_n(y + 37)}" font-size="10.5" '
                    f'fill="{theme.mute}">{svg_text(words)}</text>'
                )
                x += text_width(words, 10.5) + 26
            return
        for n, color in enumerate(self._colors):
            yield (
                f'<rect x="{_n(x + n * step)}" y="{_n(y + 24)}" width="{_n(step + 0.5)}" height="8" '
                f'fill="{color}"/>'
            )
        if self._values.scale == LOG and self._low < self._high:
            middle = math.sqrt(self._low * self._high)
        else:
            middle = (self._low + self._high) / 2
        for at, anchor, value in (
            (x, "start", self._low),
            (x + 100, "middle", middle),
            (x + 200, "end", self._high),
        ):
            yield (
                f'<text x="{_n(at)}" y="{_n(y + 44)}" font-size="10.5" text-anchor="{anchor}" '
                f'fill="{theme.mute}">{svg_text(self._values.text(value))}</text>'
            )


def _head(across: float, down: float, x: float, y: float) -> str:
    """The arrow head at the end of an edge; edges meet boxes straight."""
    if down:
        along = -7 if down > 0 else 7
        return f"M{_n(x)} {_n(y)}l-3.5 {along}h7z"
    return f"M{_n(x)} {_n(y)}l{-7 if across > 0 else 7} -3.5v7z"


def curve(points: list[list[float]]) -> str:
    """The path of an edge: vertical where it meets a box, an S in each gap between layers."""
    x, y = points[0]
    parts = [f"M{_n(x)} {_n(y)}"]
    for next_x, next_y in points[1:]:
        down = next_y - y
        if abs(next_x - x) < 0.05 or abs(down) < 0.05:
            parts.append(f"L{_n(next_x)} {_n(next_y)}")
        else:
            bend = max(-30.0, min(30.0, down / 2))
            parts.append(
                f"C{_n(x)} {_n(y + bend)} {_n(next_x)} {_n(next_y - bend)} {_n(next_x)} {_n(next_y)}"
            )
        x, y = next_x, next_y
    return "".join(parts)
