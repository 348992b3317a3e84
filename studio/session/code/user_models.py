"""What a user's Python file offers as models, found by reading it: nothing in it is run."""

from __future__ import annotations

from pathlib import Path

from resources.code_outline import CodeOutline, code_outline
from resources.local_code import MAX_BYTES
from resources.regular_files import read_regular
from resources.syntax_words import syntax_words

MOST_EDITED, LONGEST_LINE = 256 << 10, 10_000
"""Bytes of a text and characters of a line that the editor of the page Code takes: more takes it seconds."""


def classes_in(path: str | Path) -> tuple[str, ...]:
    """Names of the classes at the top of the file, those that derive from some ``Layer`` first.

    Empty where the file can't be read or isn't Python: ``trouble_in`` says why.
    """
    try:
        return _layers_first(_outline(path))
    except OSError:
        return ()


def model_classes(source: str) -> tuple[str, ...]:
    """The classes of the text that can be models, those that derive from a Layer; the last one first."""
    if too_large(source):
        return ()
    outline = text_outline(source)
    return outline.layers[::-1] or _layers_first(outline)


def text_outline(source: str) -> CodeOutline:
    """The outline of a text."""
    return code_outline(source.encode("utf-8", "surrogatepass"))


def too_large(source: str) -> str:
    """Why the text is neither edited nor parsed here, in words; empty if it is."""
    size = len(source.encode("utf-8", "surrogatepass"))
    if size > MOST_EDITED:
        return (
            f"the text has {size:,} bytes, at most {MOST_EDITED:,} are edited here; store data in other files"
        )
    longest = max(map(len, source.splitlines()), default=0)
    if longest > LONGEST_LINE:
        return (
            f"a line has {longest:,} characters, at most {LONGEST_LINE:,} are edited here; store data in "
            "other files"
        )
    return ""


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
