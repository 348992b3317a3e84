"""The names of our packages: imported from where they are installed, whatever a script's folder contains."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.machinery import PathFinder
from pathlib import Path

NAMES = ("resources", "engine", "studio", "widgets")  # the first imports none of the others
_ROOT = Path(__file__).resolve().parents[1]


def claim_names() -> None:
    """Import our packages, so that their modules are ours when a script's folder is first on the path.

    What is not installed stays free.
    """
    for name in NAMES:
        if name in sys.modules:
            continue
        spec = PathFinder.find_spec(name, [str(_ROOT)])
        if spec is not None and spec.loader is not None and spec.origin is not None:
            module = sys.modules[name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)


def taken_names(source: str | bytes, folder: Path) -> Iterator[str]:
    """A line for each module in ``folder`` that ``source`` imports, but whose name is that of a package of
    ours."""
    if folder.resolve() == _ROOT:
        return
    imported = set()
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.partition(".")[0])
    for name in sorted(imported & set(NAMES)):
        for path in (folder / f"{name}.py", folder / name / "__init__.py"):
            if path.is_file():
                yield (
                    f"{path}: not imported: the name {name!r} is taken by Model Studio's package; rename the "
                    "file if you need it"
                )
