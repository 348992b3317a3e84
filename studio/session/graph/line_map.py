"""Which lines of a converted function stand for which lines of the user's file."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from difflib import SequenceMatcher


def line_map(source: str, first_line: int, converted: str) -> dict[int, list[int]]:
    """For each line of the function at ``first_line`` of ``source``, the lines of ``converted`` that do it.

    Statements are compared without the calls that conversion puts around (``_jst.call(f)(x)`` is
    ``f(x)``), and aligned in their order. Empty where either text can't be parsed; lines without a
    counterpart are left out.
    """
    try:
        user = _function_at(ast.parse(source), first_line)
        tree = ast.parse(converted)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    if user is None:
        return {}
    ours, theirs = list(_statements(user)), list(_statements(tree))
    result: dict[int, list[int]] = {}
    matcher = SequenceMatcher(None, [text for text, _ in ours], [text for text, _ in theirs], autojunk=False)
    for block in matcher.get_matching_blocks():
        for step in range(block.size):
            result.setdefault(ours[block.a + step][1], []).append(theirs[block.b + step][1])
    return result


def _function_at(tree: ast.Module, line: int) -> ast.AST | None:
    found = None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if first <= line <= node.lineno:
                found = node
    return found


class _Unwrap(ast.NodeTransformer):
    """``_jst.call(f)(x)`` becomes ``f(x)``."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        inner = node.func
        if isinstance(inner, ast.Call) and _is_ours(inner.func) and len(inner.args) == 1:
            node.func = inner.args[0]
        return node


def _is_ours(node: ast.expr) -> bool:
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return False
    return node.value.id.startswith("_jst")


_COMPOUND = (ast.FunctionDef, ast.ClassDef, ast.If, ast.While, ast.For, ast.With, ast.Try)


def _statements(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every simple statement as text, with its line."""
    for node in sorted(
        (node for node in ast.walk(tree) if isinstance(node, ast.stmt)), key=lambda node: node.lineno
    ):
        if not isinstance(node, _COMPOUND):
            line = node.lineno
            yield ast.dump(_Unwrap().visit(node)), line
