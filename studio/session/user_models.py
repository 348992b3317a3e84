"""What a user's Python file offers as models, found by reading it: nothing in it is run."""

from __future__ import annotations

import ast
from pathlib import Path

MAX_BYTES = 5_000_000


def classes_in(path: str | Path) -> tuple[str, ...]:
    """Names of the classes at the top of the file, those that derive from some ``Layer`` first.

    Empty where the file can't be read or isn't Python: whoever trains it is told why.
    """
    try:
        data = Path(path).expanduser().read_bytes()[: MAX_BYTES + 1]
        if len(data) > MAX_BYTES:
            return ()
        tree = ast.parse(data)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    layers = [node.name for node in classes if any(_last_name(base) == "Layer" for base in node.bases)]
    return (*layers, *(node.name for node in classes if node.name not in layers))


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
