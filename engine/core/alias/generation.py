"""Distinguishes scripts of Paddle 1.x, which start in static mode, from later ones by their source."""

from __future__ import annotations

import ast
from collections.abc import Iterator

# Names that `paddle` itself had in 1.x; all others came with 2.0.
_OLD = frozenset(
    ("batch", "compat", "dataset", "distributed", "fluid", "reader", "sysconfig", "utils", "version")
)
_OLD_DISTRIBUTED = frozenset(("cloud_utils", "launch", "launch_ps", "utils"))


def is_old(source: str | bytes) -> bool:
    """Whether a script is one of 1.x: it uses ``paddle.fluid`` and no name that came with 2.0.

    Only its own text is looked at, nothing is run or imported. A text that is not Python is none.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    used = [name.split(".") for name in _used(tree)]
    return any(name[1:2] == ["fluid"] for name in used) and all(map(_is_old_name, used))


def _is_old_name(name: list[str]) -> bool:
    if len(name) < 2 or name[1].startswith("__"):
        return True
    if name[1] == "distributed" and len(name) > 2:
        return name[2] in _OLD_DISTRIBUTED
    return name[1] in _OLD


def _used(tree: ast.AST) -> Iterator[str]:
    """The dotted names under ``paddle`` that are imported, or looked up on imported names."""
    bound: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                if _is_ours(each.name):
                    yield each.name
                    bound[each.asname or "paddle"] = each.name if each.asname else "paddle"
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and _is_ours(node.module or ""):
            for each in node.names:
                name = f"{node.module}.{each.name}"
                yield name
                bound[each.asname or each.name] = name
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            found = _dotted(node)
            if found is not None and found[0] in bound:
                yield ".".join((bound[found[0]], *found[1:]))


def _is_ours(name: str) -> bool:
    return name == "paddle" or name.startswith("paddle.")


def _dotted(node: ast.Attribute) -> list[str] | None:
    parts: list[str] = []
    at: ast.expr = node
    while isinstance(at, ast.Attribute):
        parts.append(at.attr)
        at = at.value
    return [at.id, *reversed(parts)] if isinstance(at, ast.Name) else None
