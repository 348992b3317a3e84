"""Texts of a diagram: names made fit to show, shapes, and how wide a text is without a font at hand."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape

LONGEST = 60
"""Letters of a title, a note or the text of an edge; what is longer ends with an ellipsis."""

TIMES = "×"


@dataclass(frozen=True)
class DiagramWords:
    """The words in titles and notes; the window gives translated ones."""

    operators: str = "{0} operators"
    first_of: str = "{0} + {1}"
    more: str = "… {0} more"
    condition: str = "condition"
    if_true: str = "if true"
    if_false: str = "if false"
    updates: str = "updates"
    tensors: str = "{0} tensors"
    scalar: str = "scalar"


ENGLISH = DiagramWords()


def cleaned(text: str, longest: int = LONGEST) -> str:
    """``text`` on one line, without control characters, and at most ``longest`` letters."""
    if len(text) > longest:
        half = (longest - 1) // 2  # the end distinguishes names with a common start
        text = f"{text[: longest - 1 - half]}…{text[-half:]}"
    if text.isascii() and text.isprintable():
        return text
    return "".join("�" if unicodedata.category(c) in _UNSAFE else c for c in text)


_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp", "Cn", "Co"})


def shape_text(shape: Sequence[int], batch: Fraction, anywhere: bool, words: DiagramWords) -> str:
    """``N×64×56×56``: N, or a multiple of it, for a batch of open size; ``?`` for other open sizes.

    Args:
        batch: how many times the batch the open size is; 0 if it is not of the batch.
        anywhere: an open size that is the only one is of the batch wherever it is, not only as the first.
    """
    if not shape:
        return words.scalar
    sizes = [str(size) if size >= 0 else "?" for size in shape[:8]]
    first = next((n for n, size in enumerate(shape) if size < 0), None)
    only = first is not None and all(size >= 0 for size in shape[first + 1 :])
    if first is not None and first < len(sizes) and ((only and anywhere) or first == 0):
        if batch > 0 and batch.denominator == 1:
            sizes[first] = "N" if batch == 1 else f"{batch.numerator}N"
    return TIMES.join(sizes) + ("…" if len(shape) > 8 else "")


# Widths of letters of a sans-serif font of 13 px, on the wide side: fonts differ.
_NARROW, _WIDE = frozenset("iljtfrI.,:;'|!()[]{} -"), frozenset("mwMWQOGDNH@%")


def text_width(text: str, size: float = 13.0) -> float:
    """About how wide ``text`` is in pixels."""
    width = 0.0
    for letter in text:
        if letter in _NARROW:
            width += 0.42
        elif letter in _WIDE:
            width += 0.85
        elif letter < "\u2e80":
            width += 0.62
        else:  # letters of East Asia
            width += 1.05
    return width * size


_INVALID = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def svg_number(value: float) -> str:
    """A coordinate of an SVG file, with one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def svg_text(text: str) -> str:
    """A text between the tags of an SVG file, without what XML can't hold."""
    return escape(_INVALID.sub("\ufffd", text), quote=False)


def fitting(text: str, room: float, size: float) -> str:
    """As much of a text as has room, in letters of ``size`` pixels."""
    if text_width(text, size) <= room + 8:
        return text
    while text and text_width(text + "…", size) > room:
        text = text[:-1]
    return text + "…"
