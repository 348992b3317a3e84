"""A mistake in Python source in one line of words: where, what it is, the text with its place marked."""

from __future__ import annotations

from pathlib import Path

MARK = "^"
_LONGEST = 80  # characters of the source line that are shown


def syntax_words(error: SyntaxError) -> str:
    """``net.py:4: invalid syntax: def forward(self ^x):; correct it where the ^ stands``.

    The mark stands right before the place; a long line is cut around it.
    """
    name = Path(error.filename).name if error.filename else "the file"
    where = f"{name}:{error.lineno}" if error.lineno else name
    line = (error.text or "").rstrip("\r\n")
    if not line.strip():
        return f"{where}: {error.msg}; correct it"
    place = min(max((error.offset or 1) - 1, 0), len(line))
    indent = len(line) - len(line.lstrip())
    start = max(indent, place - _LONGEST // 2)
    end = min(len(line), start + _LONGEST)
    before = "..." if start > indent else ""
    after = "..." if end < len(line) else ""
    place = max(place, start)
    text = f"{before}{line[start:place]}{MARK}{line[place:end]}{after}"
    return f"{where}: {error.msg}: {text}; correct it where the {MARK} stands"
