"""Mutation sites of Python sources: every place where a small change makes a wrong program.

A mutant changes one expression or statement: a comparison (``<`` to ``<=``), an operator of arithmetic,
``and`` to ``or``, a ``not`` or a minus sign that is removed, a condition negated, a constant off by one,
``True`` to ``False``, ``return x`` to ``return None``, ``break`` to ``continue``, a call removed. Texts,
annotations, docstrings, arguments of raised errors, log calls, dataclass decorators, ``__all__``, and what
only type checkers or a direct start execute have no sites.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
}
_LOGS = {"logger", "logging", "log", "_log", "_logger", "warnings"}
_UNUSED_NAMES = {"__all__", "__slots__"}


@dataclass(frozen=True)
class Site:
    """One mutant: ``old`` at a position of ``file`` (relative to the tree) becomes ``new``.

    ``lines`` are the first and the last line of the statement, a block's without its body. ``imported`` is
    true where the code runs while the module is imported. Lines count from 1, columns are UTF-8 bytes.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    old: str
    new: str
    lines: tuple[int, int]
    imported: bool

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.old} -> {self.new}"

    def apply(self, source: str) -> str:
        """The source of the mutant; all other lines keep their numbers."""
        rows = source.encode().splitlines(keepends=True)
        first, last = rows[self.line - 1], rows[self.end_line - 1]
        filling = "\n" * (self.end_line - self.line)
        if self.new in ("pass", "continue", "break"):
            changed = self.new + filling
        elif self.new == "return None":
            changed = f"return (None{filling})"
        else:
            changed = f"({self.new}{filling})"
        middle = first[: self.column] + changed.encode() + last[self.end_column :]
        return b"".join([*rows[: self.line - 1], middle, *rows[self.end_line :]]).decode()


class _Sites:
    """Walks one module; ``found`` has its sites in the order of the source."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.found: list[Site] = []
        self._lines = (1, 1)
        self._depth = 0  # of functions

    # ----- statements -----

    def body(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        blocks = [
            getattr(node, name)
            for name in ("body", "handlers", "orelse", "finalbody", "cases")
            if hasattr(node, name)
        ]
        inner = [child.lineno for block in blocks for child in block if hasattr(child, "lineno")]
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        last = max(first, min(inner) - 1) if inner else node.end_lineno or node.lineno
        self._lines = (first, last)
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                for each in [*node.decorator_list, *node.args.defaults, *node.args.kw_defaults]:
                    self.expression(each)
                self._depth += 1
                self.body(node.body)
                self._depth -= 1
            case ast.ClassDef():
                for each in node.decorator_list:
                    if not _is_dataclass(each):
                        self.expression(each)
                for keyword in node.keywords:
                    self.expression(keyword.value)
                self.body(node.body)
            case ast.Return(value=ast.expr() as value) if not _is_none(value):
                self.add(node, f"return {ast.unparse(value)}", "return None")
                self.expression(value)
            case ast.Expr(value=ast.Call() as call):
                if not _is_log(call):
                    self.add(node, ast.unparse(call), "pass")
                    self.expression(call)
            case ast.Expr(value=ast.Constant()):
                pass
            case ast.Break():
                self.add(node, "break", "continue")
            case ast.Continue():
                self.add(node, "continue", "break")
            case ast.Raise() | ast.Assert():
                pass
            case ast.AnnAssign():
                self.expression(node.value)
            case ast.Assign(targets=[ast.Name(id=name)]) if name in _UNUSED_NAMES:
                pass
            case ast.If():
                if _is_unused_block(node.test):
                    self.body(node.orelse)
                    return
                self.condition(node.test)
                self.expression(node.test)
                self.body(node.body)
                self.body(node.orelse)
            case ast.Match():
                self.expression(node.subject)
                for case in node.cases:
                    self._lines = (case.pattern.lineno, max(case.pattern.lineno, case.body[0].lineno - 1))
                    self.expression(case.guard)
                    self.body(case.body)
            case _:
                self.others(node)

    def others(self, node: ast.stmt) -> None:
        """The expressions of any other statement, then its blocks."""
        for _, value in ast.iter_fields(node):
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, ast.expr):
                    self.expression(each)
                elif isinstance(each, ast.withitem):
                    self.expression(each.context_expr)
        for name in ("body", "handlers", "orelse", "finalbody"):
            for each in getattr(node, name, []):
                if isinstance(each, ast.ExceptHandler):
                    self.body(each.body)
                else:
                    self.statement(each)

    # ----- expressions -----

    def condition(self, node: ast.expr) -> None:
        """Negate it, unless a mutant of the expression itself does the same."""
        match node:
            case ast.UnaryOp(op=ast.Not()):
                return
            case ast.Compare(ops=[ast.Eq() | ast.NotEq() | ast.Is() | ast.IsNot() | ast.In() | ast.NotIn()]):
                return
        self.add(node, ast.unparse(node), f"not ({ast.unparse(node)})")

    def expression(self, node: ast.AST | None) -> None:
        match node:
            case None | ast.JoinedStr() | ast.Name():
                return
            case ast.Constant(value=bool() | int() | float() as value):
                changed = not value if isinstance(value, bool) else value + 1
                self.add(node, repr(value), repr(changed))
            case ast.Compare(ops=[op]):
                self.swap(node, "ops", [_COMPARED[type(op)]()])
            case ast.BinOp(op=op) if type(op) in _COMPUTED and not _is_text_or_type(node):
                self.swap(node, "op", _COMPUTED[type(op)]())
            case ast.BoolOp(op=op):
                self.swap(node, "op", ast.Or() if isinstance(op, ast.And) else ast.And())
            case ast.UnaryOp(op=ast.Not() | ast.USub()):
                self.add(node, ast.unparse(node), ast.unparse(node.operand))
            case ast.IfExp():
                self.condition(node.test)
            case ast.comprehension():
                for each in node.ifs:
                    self.condition(each)
        deeper = isinstance(node, ast.Lambda)
        self._depth += deeper
        for child in _read_parts(node):
            self.expression(child)
        self._depth -= deeper

    # ----- what is found -----

    def swap(self, node: ast.expr, field: str, changed: object) -> None:
        other = copy.copy(node)
        setattr(other, field, changed)
        self.add(node, ast.unparse(node), ast.unparse(other))

    def add(self, node: ast.expr | ast.stmt, old: str, new: str) -> None:
        position = (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)
        self.found.append(Site(self.file, *position, old, new, self._lines, imported=self._depth == 0))


def _read_parts(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of an expression that may have sites."""
    if isinstance(node, ast.Call) and _name(node.func) in ("isinstance", "issubclass", "cast", "TypeVar"):
        yield from node.args[:1]
    else:
        yield from (
            child
            for child in ast.iter_child_nodes(node)
            if not isinstance(child, ast.expr_context | ast.operator)
        )


def _name(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_dataclass(node: ast.expr) -> bool:
    return _name(node.func if isinstance(node, ast.Call) else node) == "dataclass"


def _is_log(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and _name(call.func.value) in _LOGS


def _is_unused_block(test: ast.expr) -> bool:
    """Whether only a type checker or a direct start enters the block."""
    return "TYPE_CHECKING" in ast.unparse(test) or ast.unparse(test) == "__name__ == '__main__'"


def _is_text_or_type(node: ast.BinOp) -> bool:
    """Whether the operator joins or formats texts, or unites types."""
    for each in (node.left, node.right):
        if isinstance(each, ast.JoinedStr) or (
            isinstance(each, ast.Constant) and isinstance(each.value, str | bytes | None)
        ):
            return True
        if isinstance(node.op, ast.BitOr):
            name = _name(each.value if isinstance(each, ast.Subscript) else each)
            if name[:1].isupper() or name in (
                "int",
                "float",
                "str",
                "bool",
                "bytes",
                "list",
                "dict",
                "tuple",
                "set",
            ):
                return True
    return False


def sites_of(source: str, file: str) -> list[Site]:
    """All sites of one source."""
    walk = _Sites(file)
    walk.body(ast.parse(source).body)
    return walk.found


def sites_of_tree(tree: Path, rooms: tuple[str, ...]) -> list[Site]:
    """All sites of the sources below ``rooms``, by file name."""
    files = sorted(path for room in rooms for path in (tree / room).rglob("*.py"))
    return [
        site
        for path in files
        for site in sites_of(path.read_text(encoding="utf-8"), path.relative_to(tree).as_posix())
    ]
