"""From a function object to its node in the user's file: file, lines, class around it, and the tree of the
whole file.
"""

from __future__ import annotations

import ast
import linecache
import textwrap
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FunctionType

from engine.core.errors import ConversionError

DefinitionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True)
class Source:
    """Where a function is written. `text` is its source as written, decorators included, without the
    indentation.
    """

    node: DefinitionNode
    filename: str
    first_line: int
    class_name: str | None
    text: str

    @property
    def name(self) -> str:
        """The function's name."""
        return "<lambda>" if isinstance(self.node, ast.Lambda) else self.node.name


def find_source(function: FunctionType) -> Source:
    """The function's node in its file; raises ConversionError where the source can't be read or is not the
    function's.
    """
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    unread = ConversionError(
        f"{code.co_filename}:{code.co_firstlineno}: the source of `{code.co_name}` could not be read; "
        "put the function into a file so that it can be converted"
    )
    if not lines:
        raise unread
    candidates = _definitions("".join(lines), code.co_filename).get((code.co_name, code.co_firstlineno), ())
    fitting = [found for found in candidates if _same_parameters(found[0], code)]
    if len(fitting) > 1:
        fitting = [found for found in fitting if _holds_positions(found[0], code)]
    if not fitting and code.co_filename == "<string>":
        raise unread  # Python 3.13 keeps the source of `python -c` under the name that exec gives its own
    if not fitting:
        raise ConversionError(
            f"{code.co_filename}:{code.co_firstlineno}: the file has no `{code.co_name}` on this line, "
            "it changed after it was imported; restart Python so that source and function agree"
        )
    node, class_name = fitting[-1]
    return Source(node, code.co_filename, code.co_firstlineno, class_name, _text(node, lines))


@lru_cache(maxsize=32)
def _definitions(text: str, filename: str) -> dict[tuple[str, int], list[tuple[DefinitionNode, str | None]]]:
    """All functions of a file by name and first line, with the class that private names belong to."""
    try:
        tree = ast.parse(text, filename)
    except SyntaxError as error:
        raise ConversionError(
            f"{filename}:{error.lineno}: the source could not be parsed: {error.msg}"
        ) from error
    found: dict[tuple[str, int], list[tuple[DefinitionNode, str | None]]] = {}

    def walk(node: ast.AST, class_name: str | None) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                name = "<lambda>" if isinstance(child, ast.Lambda) else child.name
                found.setdefault((name, first_line(child)), []).append((child, class_name))
            walk(child, child.name if isinstance(child, ast.ClassDef) else class_name)

    walk(tree, None)
    return found


def first_line(node: DefinitionNode) -> int:
    """The line of the definition as code objects count it: the first decorator's, if there is one."""
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _same_parameters(node: DefinitionNode, code: CodeType) -> bool:
    args = node.args
    names = [arg.arg for arg in [*args.posonlyargs, *args.args, *args.kwonlyargs]]
    # Private names of methods are mangled in the code object, so only how they end is compared.
    given = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return len(names) == len(given) and all(
        seen.endswith(name) for name, seen in zip(names, given, strict=True)
    )


def _holds_positions(node: DefinitionNode, code: CodeType) -> bool:
    """Whether all instructions lie within the node's body: distinguishes several lambdas on one line."""
    body = node.body if isinstance(node, ast.Lambda) else node
    start, end = (body.lineno, body.col_offset), (body.end_lineno or 0, body.end_col_offset or 0)
    for line, end_line, column, end_column in code.co_positions():
        if None in (line, end_line, column, end_column) or column == end_column:
            continue
        if (line, column) < start or (end_line, end_column) > end:
            return False
    return True


def _text(node: DefinitionNode, lines: list[str]) -> str:
    if isinstance(node, ast.Lambda):
        return ast.get_source_segment("".join(lines), node) or ""
    return textwrap.dedent("".join(lines[first_line(node) - 1 : node.end_lineno]))
