"""The run colours differ for all kinds of colour vision, and stand out from the ground in both themes."""

from __future__ import annotations

import math
from itertools import combinations

import pytest
from PySide6.QtGui import QColor

from widgets import theme
from widgets.tokens import DARK, LIGHT, Tokens

# Linear RGB as seen without one kind of cones: Machado, Oliveira, Fernandes 2009, severity 1.0.
VISION = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
TO_XYZ = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)
WHITE = (0.95047, 1.0, 1.08883)

Triple = tuple[float, float, float]


def times(matrix: tuple[Triple, ...], vector: Triple) -> Triple:
    first, second, third = (sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)
    return first, second, third


def linear(color: str) -> Triple:
    parts = QColor(color).getRgbF()[:3]
    first, second, third = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return first, second, third


def lab(color: str, vision: str) -> Triple:
    seen = [min(1.0, max(0.0, part)) for part in times(VISION[vision], linear(color))]
    xyz = times(TO_XYZ, (seen[0], seen[1], seen[2]))
    fx, fy, fz = (
        (part / white) ** (1 / 3)
        if part / white > (6 / 29) ** 3
        else part / white / (3 * (6 / 29) ** 2) + 4 / 29
        for part, white in zip(xyz, WHITE, strict=True)
    )
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def ciede2000(one: Triple, other: Triple) -> float:
    """The difference of two colours (Sharma, Wu, Dalal 2005)."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    scale = 1.5 - 0.5 * math.sqrt(mean**7 / (mean**7 + 25**7))
    c1, c2 = math.hypot(a1 * scale, b1), math.hypot(a2 * scale, b2)
    h1, h2 = (math.degrees(math.atan2(b, a * scale)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    hue = (h1 + turn / 2) % 360 if c1 * c2 else h1 + h2
    light, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    weight = 1 - sum(
        size * math.cos(math.radians(factor * hue + shift))
        for size, factor, shift in ((0.17, 1, -30), (-0.24, 2, 0), (-0.32, 3, 6), (0.2, 4, -63))
    )
    dl = (l2 - l1) / (1 + 0.015 * (light - 50) ** 2 / math.sqrt(20 + (light - 50) ** 2))
    dc = (c2 - c1) / (1 + 0.045 * chroma)
    dh = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2)) / (1 + 0.015 * chroma * weight)
    angle = math.radians(60 * math.exp(-(((hue - 275) / 25) ** 2)))
    rotation = -2 * math.sqrt(chroma**7 / (chroma**7 + 25**7)) * math.sin(angle)
    return math.sqrt(dl**2 + dc**2 + dh**2 + rotation * dc * dh)


def test_the_difference_is_that_of_the_published_pairs() -> None:
    for one, other, difference in (
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((2.0776, 0.0795, -1.135), (0.9033, -0.0636, -0.5514), 0.9082),
    ):
        assert ciede2000(one, other) == pytest.approx(difference, abs=1e-4)


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_run_colours_differ_for_each_kind_of_colour_vision(tokens: Tokens, vision: str) -> None:
    seen = {color: lab(color, vision) for color in tokens.runs}
    close = [
        (one, other, round(difference, 1))
        for one, other in combinations(tokens.runs, 2)
        if (difference := ciede2000(seen[one], seen[other])) < (20 if vision == "normal" else 14)
    ]
    assert close == []


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_run_colours_stand_out_from_the_ground(tokens: Tokens) -> None:
    for ground in (tokens.ground, tokens.panel):
        of_ground = theme.luminance(QColor(ground)) + 0.05
        for color in tokens.runs:
            of_color = theme.luminance(QColor(color)) + 0.05
            assert max(of_color / of_ground, of_ground / of_color) >= 3, (color, ground)
