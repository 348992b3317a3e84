"""What a user's Python file offers as models, found by reading it: nothing in it is run."""

from __future__ import annotations

import ast
from contextlib import suppress
from pathlib import Path

from resources.local_code import MAX_BYTES
from resources.regular_files import read_regular
from resources.syntax_trees import without_collections
from resources.syntax_words import syntax_words


def classes_in(path: str | Path) -> tuple[str, ...]:
    """Names of the classes at the top of the file, those that derive from some ``Layer`` first.

    Empty where the file can't be read or isn't Python: ``trouble_in`` says why.
    """
    try:
        tree = _parsed(path)
    except _UNREADABLE:
        return ()
    return _classes(tree, False)


def model_classes(source: str) -> tuple[str, ...]:
    """The classes of the text that can be models, those that derive from a Layer; the last one first."""
    if too_large(source):
        return ()
    with suppress(*_UNREADABLE), without_collections():
        tree = ast.parse(source)
        return tuple(reversed(_classes(tree, True))) or _classes(tree, False)
    return ()


def too_large(source: str) -> str:
    """Why the text is not parsed, in words; empty if it is."""
    size = len(source.encode("utf-8", "surrogatepass"))
    if size <= MAX_BYTES:
        return ""
    return f"the text has {size:,} bytes, at most {MAX_BYTES:,} are read; store data in other files"


def _classes(tree: ast.Module, layers_only: bool) -> tuple[str, ...]:
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    layers: list[str] = []
    for node in classes:
        if any(_last_name(base) in ("Layer", *layers) for base in node.bases):
            layers.append(node.name)
    if layers_only:
        return tuple(layers)
    return (*layers, *(node.name for node in classes if node.name not in layers))


def trouble_in(path: str | Path) -> str:
    """Why the file offers no model; a mistake in its source with line, text and place.

    Empty where it offers one.
    """
    name = Path(path).name
    try:
        _parsed(path)
    except SyntaxError as error:
        return syntax_words(error)
    except OSError as error:
        return f"{name}: it can't be read: {error.strerror or error}; choose another file"
    except _UNREADABLE as error:
        return f"{name}: not a Python source file: {error}; choose another file"
    return "" if classes_in(path) else f"{name}: no class is found; write a class of nn.Layer"


_UNREADABLE = (OSError, SyntaxError, ValueError, RecursionError, MemoryError)


def _parsed(path: str | Path) -> ast.Module:
    file = Path(path).expanduser()
    data = read_regular(file, MAX_BYTES)
    with without_collections():
        return ast.parse(data, filename=str(file))


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
