"""What operators computed, on the boxes of an SVG: channels as embedded images, distributions as bars."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass

from studio.session.graph.diagram.texts import cleaned, fitting, svg_text
from studio.session.graph.diagram.texts import svg_number as _n

Rectangle = tuple[float, float, float, float]
TEXT_HIGH = 44.0  # of a box with room for a picture, as the window paints it
LEAST = 48.0  # the height of a box below which it has no picture
MOST_BYTES = 8 << 20
"""Of all embedded images of a file, as PNG; what comes after them has no image."""
_EDGE, _LINE = 6.0, 16.0


@dataclass(frozen=True)
class NodePicture:
    """A PNG file with its ``width`` and ``height`` in pixels, or the ``counts`` of a distribution; ``words``
    are below it."""

    png: bytes = b""
    width: int = 0
    height: int = 0
    counts: tuple[int, ...] = ()
    words: str = ""


def text_high(height: float) -> float:
    """How far from its top a closed box of this height has its texts."""
    return TEXT_HIGH if height >= 2 * TEXT_HIGH else height


def picture_lines(
    picture: NodePicture, box: Rectangle, panel: str, ink: str, mute: str, with_image: bool = True
) -> Iterator[str]:
    """The picture of a box, below its texts, in the lower half of a low box.

    Args:
        panel, ink, mute: the colours of the ground of words, of bars and of words.
        with_image: else without its PNG.
    """
    x, y, width, height = box
    if height < LEAST:
        return
    top = y + (TEXT_HIGH if height >= 2 * TEXT_HIGH else height / 2)
    left, right, bottom = x + _EDGE, x + width - _EDGE, y + height - _EDGE
    if right - left < 8 or bottom - top < 6:
        return
    if picture.words and bottom - top > 2.5 * _LINE:
        wide = right - left
        words = fitting(cleaned(picture.words, 80), wide, 11.0)
        yield (
            f'<rect x="{_n(left)}" y="{_n(bottom - _LINE)}" width="{_n(wide)}" height="{_n(_LINE)}" '
            f'fill="{panel}"/>'
        )
        yield (
            f'<text x="{_n((left + right) / 2)}" y="{_n(bottom - 4)}" text-anchor="middle" font-size="11" '
            f'fill="{mute}">{svg_text(words)}</text>'
        )
        bottom -= _LINE + 2
    if picture.png and with_image and picture.width > 0 and picture.height > 0:
        scale = min((right - left) / picture.width, (bottom - top) / picture.height)
        wide = picture.width * scale
        yield (
            f'<image x="{_n((left + right - wide) / 2)}" y="{_n(top)}" width="{_n(wide)}" '
            f'height="{_n(picture.height * scale)}" preserveAspectRatio="none" '
            f'image-rendering="{"pixelated" if scale > 1 else "auto"}" '
            f'xlink:href="data:image/png;base64,{b64encode(picture.png).decode("ascii")}"/>'
        )
    elif picture.counts:
        yield from _bars(picture.counts, (left, top, right - left, bottom - top), panel, ink)


def _bars(counts: tuple[int, ...], area: Rectangle, panel: str, ink: str) -> Iterator[str]:
    """The highest bar has the whole height."""
    left, top, width, height = area
    yield (f'<rect x="{_n(left)}" y="{_n(top)}" width="{_n(width)}" height="{_n(height)}" fill="{panel}"/>')
    most, wide = max(counts) or 1, width / len(counts)
    path = ""
    for place, count in enumerate(counts):
        if count > 0:
            high = max(1.0, height * count / most)
            across = max(1.0, wide - 1)
            path += f"M{_n(left + place * wide)} {_n(top + height)}v{_n(-high)}h{_n(across)}v{_n(high)}z"
    if path:
        yield f'<path fill="{ink}" d="{path}"/>'
