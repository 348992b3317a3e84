"""Collects the texts that a person reads from the syntax tree: each with the files that have it.

- the first argument of ``tr`` (its second is the context), the second of ``QCoreApplication.translate``,
  those of ``plural`` and of ``marked``, for texts of tables
- titles and helps of commands, settings, rules and tasks: the calls in ``DECLARED``
- the help of commands, arguments and options of the command line
"""

from __future__ import annotations

import ast
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOPS = ("resources", "studio", "widgets")
NO_TEXTS = "resources/models/"
RULES = "resources/settings/rules.json"

Key = tuple[str, str, str]  # text, plural, context

# Calls that declare texts: the folder of the files that have them, texts by position and by name. ``choices``
# are pairs of a value and its title.
DECLARED: dict[str, tuple[str, dict[int, str], tuple[str, ...]]] = {
    "Command": ("studio/session/", {1: "title", 2: "menu", 3: "help"}, ("title", "help", "group", "button")),
    "declared": (
        "resources/settings/",
        {2: "title", 3: "help"},
        ("title", "help", "choices", "empty", "panel"),
    ),
    "Setting": ("resources/settings/", {2: "title", 3: "help"}, ("title", "help", "choices", "empty")),
    "Option": ("resources/launch_options.py", {1: "help"}, ("unused",)),
    "_option": ("studio/cli/", {0: "help"}, ()),
    "Sample": ("studio/session/project/", {1: "title", 2: "help"}, ()),
    "begin": ("studio/session/", {0: "title"}, ()),
    "RunColumn": ("studio/session/", {1: "title"}, ("title",)),
    "Measure": ("studio/session/", {0: "title"}, ("title",)),
    "SingleJob": ("studio/session/", {1: "title"}, ()),
}
# Methods and functions that look their first argument up.
LOOKUPS = ("tr", "_tr", "translated", "command_text")
# Of the command line: typer's calls, and the names of the arguments that its help shows.
HELP_CALLS = ("Argument", "Option", "Typer", "command", "callback")
HELP_NAMES = ("help", "rich_help_panel", "epilog", "short_help")


@dataclass
class Collected:
    """``texts`` with their files, and ``faults``: calls whose text is joined from pieces."""

    texts: dict[Key, set[str]] = field(default_factory=lambda: defaultdict(set))
    faults: list[str] = field(default_factory=list)


def collected(root: Path = ROOT) -> Collected:
    """All texts of window, session and command line."""
    found = Collected()
    for top in TOPS:
        for path in sorted((root / top).rglob("*.py")):
            name = path.relative_to(root).as_posix()
            if not name.startswith(NO_TEXTS):
                collect_source(path.read_text(encoding="utf-8"), name, found)
    rules = json.loads((root / RULES).read_text(encoding="utf-8"))
    for text in _texts_of_rules(rules):
        found.texts[text, "", ""].add(RULES)
    return found


def _texts_of_rules(value: object) -> Iterator[str]:
    """Titles and helps anywhere in the rules."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name in ("title", "help", "empty") and isinstance(inner, str) and inner:
                yield inner
            elif name == "choices":
                yield from (title for _, title in inner if title)
            else:
                yield from _texts_of_rules(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts_of_rules(inner)


def collect_source(source: str, name: str, found: Collected) -> None:
    """Add the texts of one file."""
    _Visitor(ast.parse(source, name), name, found).run()


class _Visitor(ast.NodeVisitor):
    def __init__(self, tree: ast.Module, name: str, found: Collected) -> None:
        self._tree, self._name, self._found = tree, name, found
        self._constants = _constants(tree)
        # For each scope that is open, whether ``tr`` is QCoreApplication.translate in it.
        self._translates = [False]
        self._is_command_line = name.startswith("studio/cli/")

    def run(self) -> None:
        self._visit_scope(self._tree, self._tree.body)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if self._is_command_line and any(_called(each)[0] in HELP_CALLS for each in node.decorator_list):
            text = ast.get_docstring(node)
            if text:
                self._add(text.partition("\f")[0])
        self._visit_scope(node, node.body)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        # The title of a job, and what messages call its process.
        name = node.target.id if isinstance(node.target, ast.Name) else ""
        if name in ("TITLE", "PROCESS", "REMEDY") and node.value is not None:
            for text in self._values(node.value) or ():
                self._add(text)
        self.generic_visit(node)

    def _visit_scope(self, node: ast.AST, body: Iterable[ast.stmt]) -> None:
        kinds = [kind for kind in map(_alias, _own_nodes(body)) if kind is not None]
        names = {each.arg for each in node.args.args} if isinstance(node, ast.FunctionDef) else set()
        self._translates.append(any(kinds) if kinds else False if "tr" in names else self._translates[-1])
        self.generic_visit(node)
        self._translates.pop()

    def visit_Call(self, node: ast.Call) -> None:
        name, is_method = _called(node)
        arguments = node.args
        if name in LOOKUPS and arguments and not (is_method and name == "translated"):
            if name == "tr" and self._translates[-1] and not is_method:
                self._take(node, arguments[1:2], arguments[2:3])
            else:
                self._take(node, arguments[:1], arguments[1:2])
        elif name == "translate" and len(arguments) > 1 and self._values(arguments[0]):
            self._take(node, arguments[1:2], arguments[2:3])
        elif name in ("plural", "marked") and arguments and not is_method and name in self._imported():
            if name == "marked":
                self._take(node, arguments[:1], arguments[1:2])
            else:
                self._take_plural(node)
        elif name in DECLARED and self._name.startswith(DECLARED[name][0]):
            self._take_declared(node, *DECLARED[name][1:])
        elif self._is_command_line and name in HELP_CALLS:
            for each in node.keywords:
                if each.arg in HELP_NAMES:
                    self._take(node, [each.value], [])
        self.generic_visit(node)

    def _imported(self) -> set[str]:
        names = set()
        for node in ast.walk(self._tree):
            if isinstance(node, ast.ImportFrom) and node.module == "resources.words":
                names |= {each.asname or each.name for each in node.names}
        return names

    def _take(self, call: ast.Call, texts: list[ast.expr], contexts: list[ast.expr]) -> None:
        context = next((text for each in contexts for text in self._values(each) or ()), "")
        for each in texts:
            for text in self._values(each) or ():
                self._add(text, context=context)
            if _is_joined(each):
                line = f"{self._name}:{call.lineno}"
                self._found.faults.append(f"{line}: joined from pieces: {ast.unparse(each)[:80]}")

    def _take_plural(self, call: ast.Call) -> None:
        if len(call.args) < 3:
            return
        one, many = (self._values(each) for each in call.args[:2])
        context = self._values(call.args[3]) if len(call.args) > 3 else [""]
        if not (one and many and context):
            self._found.faults.append(f"{self._name}:{call.lineno}: a plural needs its texts as they are")
            return
        self._found.texts[one[0], many[0], context[0]].add(self._name)

    def _take_declared(self, call: ast.Call, positions: dict[int, str], names: tuple[str, ...]) -> None:
        values = {positions[index]: value for index, value in enumerate(call.args) if index in positions}
        values |= {each.arg: each.value for each in call.keywords if each.arg in names}
        for name, value in values.items():
            if name == "choices":
                for title in self._titles(value):
                    self._add(title)
            else:
                self._take(call, [value], [])

    def _titles(self, choices: ast.expr) -> Iterator[str]:
        """The titles of (value, title) pairs, also of a constant that holds them."""
        if isinstance(choices, ast.Name) and choices.id in self._constants:
            yield from self._titles(self._constants[choices.id])
        elif isinstance(choices, ast.Tuple | ast.List):
            for pair in choices.elts:
                if isinstance(pair, ast.Tuple) and len(pair.elts) == 2:
                    yield from self._values(pair.elts[1]) or ()
                elif isinstance(pair, ast.Starred):
                    yield from self._titles(pair.value)

    def _add(self, text: str, context: str = "") -> None:
        if text.strip():
            self._found.texts[text, "", context].add(self._name)

    def _values(self, node: ast.expr) -> list[str] | None:
        """The texts that an expression can be; None where they are not written here."""
        match node:
            case ast.Constant(value=str(text)):
                return [text]
            case ast.IfExp(body=one, orelse=other):
                return [*(self._values(one) or ()), *(self._values(other) or ())]
            case ast.BoolOp(values=values):
                return [text for each in values for text in self._values(each) or ()]
            case ast.Name(id=name) if name in self._constants:
                return self._values(self._constants[name])
            case ast.Subscript(value=ast.Name(id=name)) if name in self._constants:
                return self._values(self._constants[name])
            case ast.Dict(values=values) | ast.Tuple(elts=values):
                return [text for each in values for text in self._values(each) or ()]
            case ast.Call(func=ast.Attribute(value=table, attr="get"), args=[_, *rest]):
                inside = table if isinstance(table, ast.Dict) else ast.Subscript(table, ast.Constant(0))
                return [text for each in (inside, *rest) for text in self._values(each) or ()]
            case ast.Subscript(value=ast.Dict() as table):
                return self._values(table)
        return None


def _called(node: ast.AST) -> tuple[str, bool]:
    """The name of a called function, and whether it is a method's."""
    function = node.func if isinstance(node, ast.Call) else node
    if isinstance(function, ast.Attribute):
        return function.attr, True
    return (function.id, False) if isinstance(function, ast.Name) else ("", False)


def _is_joined(node: ast.expr) -> bool:
    """Whether a text is put together before it is looked up, so that no catalogue can have it."""
    if isinstance(node, ast.JoinedStr | ast.BinOp):
        return True
    if isinstance(node, ast.IfExp):
        return _is_joined(node.body) or _is_joined(node.orelse)
    return isinstance(node, ast.Call) and _called(node)[0] in ("format", "join", "replace")


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    """The values of the names that the module and its classes set once."""
    found: dict[str, ast.expr] = {}
    bodies = [tree.body, *(each.body for each in tree.body if isinstance(each, ast.ClassDef))]
    for statement in (each for body in bodies for each in body):
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            found[statement.targets[0].id] = statement.value
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            if statement.value is not None:
                found[statement.target.id] = statement.value
    return found


def _own_nodes(body: Iterable[ast.stmt]) -> Iterator[ast.AST]:
    """The nodes of a scope without those of functions and classes inside."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)


def _alias(node: ast.AST) -> bool | None:
    """Whether ``tr`` is set to QCoreApplication.translate here; None where it is not set."""
    if not isinstance(node, ast.Assign):
        return None
    for target in node.targets:
        names = target.elts if isinstance(target, ast.Tuple) else [target]
        values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        for name, value in zip(names, values, strict=False):
            if isinstance(name, ast.Name) and name.id == "tr":
                return isinstance(value, ast.Attribute) and value.attr == "translate"
    return None
