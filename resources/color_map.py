"""The colours of values: viridis, readable by colour-blind people and in grey, with text that is readable on
each of them."""

from __future__ import annotations

from functools import lru_cache

# At equal distances; its lightness increases steadily.
_VIRIDIS = (
    *("#440154", "#472D7B", "#3B528B", "#2C728E", "#21918C", "#28AE80", "#5EC962", "#ADDC30", "#FDE725"),
)
# Its ends that are hard to see on the ground of each theme are omitted.
_PART = {False: (0.0, 0.82), True: (0.22, 1.0)}
# Of values below and above zero, readable by colour-blind people; zero has the colour of the ground.
BELOW, ABOVE = "#4C9BE8", "#F0883E"
_BLACK, _WHITE = "#000000", "#FFFFFF"


@lru_cache(8)
def map_colors(dark: bool, steps: int) -> tuple[str, ...]:
    """``steps`` colours from the least to the largest value."""
    first, last = _PART[dark]
    anchors = [color_parts(color) for color in _VIRIDIS]
    found = []
    for step in range(steps):
        at = (first + (last - first) * step / max(1, steps - 1)) * (len(anchors) - 1)
        left = min(int(at), len(anchors) - 2)
        share = at - left
        mixed = [round(a + (b - a) * share) for a, b in zip(anchors[left], anchors[left + 1], strict=True)]
        found.append("#" + "".join(f"{part:02X}" for part in mixed))
    return tuple(found)


@lru_cache(256)
def text_on(color: str) -> str:
    """Black or white, whichever has more contrast to ``color``: at least 4.58."""
    light = _luminance(color) + 0.05
    return _BLACK if light / (_luminance(_BLACK) + 0.05) >= (_luminance(_WHITE) + 0.05) / light else _WHITE


def color_parts(color: str) -> tuple[int, int, int]:
    """Red, green and blue of ``#RRGGBB``."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def _luminance(color: str) -> float:
    shares = [part / 255 for part in color_parts(color)]
    red, green, blue = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
