"""What a user's Python file offers as models, found by reading it: nothing in it is run."""

from __future__ import annotations

import re
from pathlib import Path

from resources.code_outline import CodeOutline, code_outline, is_known
from resources.local_code import MAX_BYTES
from resources.regular_files import read_regular
from resources.syntax_words import syntax_words

MOST_EDITED, MOST_LINES, LONGEST_LINE, MOST_RUNS = 256 << 10, 15_000, 5000, 300
"""Bytes and lines of a text, characters of a line, and runs of it, that the editor of the page Code takes:
more stops the window. A run is what Qt lays out at once: characters of one script, or a tab."""
MOST_CLASSES = 500
"""Classes that are offered."""
_LINES = re.compile(r"\r\n|[\n\r\u2029]")
_RUNS = re.compile(
    "[ -~]+|[\u00a0-\u024f]+|[\u0370-\u03ff]+|[\u0400-\u052f]+|[\u0590-\u05ff]+|[\u0600-\u06ff]+"
    "|[\u3040-\u30ff]+|[\u3400-\u9fff]+|[\uac00-\ud7a3]+|."
)


def classes_in(path: str | Path) -> tuple[str, ...]:
    """Names of the classes at the top of the file, those that derive from some ``Layer`` first.

    Empty where the file can't be read or isn't Python: ``trouble_in`` says why.
    """
    try:
        return _layers_first(_outline(path))[:MOST_CLASSES]
    except OSError:
        return ()


def model_classes(source: str) -> tuple[str, ...]:
    """The classes of the text that can be models, those that derive from a Layer; the last one first."""
    if too_large(source):
        return ()
    outline = text_outline(source)
    return (outline.layers[::-1] or _layers_first(outline))[:MOST_CLASSES]


def text_outline(source: str) -> CodeOutline:
    """The outline of a text."""
    return code_outline(_encoded(source))


def is_outlined(source: str) -> bool:
    """Whether ``text_outline`` needs little time; what is too large is not parsed at all."""
    return is_known(_encoded(source)) or bool(too_large(source))


def parsed(source: str | None) -> str | None:
    """The same text, parsed before it is asked for."""
    if source is not None and not is_outlined(source):
        text_outline(source)
    return source


def _encoded(source: str) -> bytes:
    return source.encode("utf-8", "surrogatepass")


def too_large(source: str) -> str:
    """Why the text is neither edited nor parsed here, in words; empty if it is."""
    size = len(_encoded(source))
    if size > MOST_EDITED:
        return _beyond(f"the text has {size:,} bytes", MOST_EDITED)
    lines = _LINES.split(source)
    if len(lines) > MOST_LINES:
        return _beyond(f"the text has {len(lines):,} lines", MOST_LINES)
    longest = max(map(len, lines))
    if longest > LONGEST_LINE:
        return _beyond(f"a line has {longest:,} characters", LONGEST_LINE)
    for line in lines:
        if len(line) > MOST_RUNS and (runs := len(_RUNS.findall(line))) > MOST_RUNS:
            return _beyond(f"a line has {runs:,} tabs and changes of script", MOST_RUNS)
    return ""


def _beyond(found: str, most: int) -> str:
    return f"{found}, at most {most:,} are edited here; store data in other files"


def _layers_first(outline: CodeOutline) -> tuple[str, ...]:
    return (*outline.layers, *(name for name, _ in outline.classes if name not in outline.layers))


def trouble_in(path: str | Path) -> str:
    """Why the file offers no model; a mistake in its source with line, text and place.

    Empty where it offers one.
    """
    name = Path(path).name
    try:
        outline = _outline(path)
    except OSError as error:
        return f"{name}: it can't be read: {error.strerror or error}; choose another file"
    if isinstance(outline.error, SyntaxError):
        outline.error.filename = str(path)
        return syntax_words(outline.error)
    if outline.error is not None:
        return f"{name}: not a Python source file: {outline.error}; choose another file"
    return "" if outline.classes else f"{name}: no class is found; write a class of nn.Layer"


def _outline(path: str | Path) -> CodeOutline:
    return code_outline(read_regular(Path(path).expanduser(), MAX_BYTES))
