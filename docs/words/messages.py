"""Collects the templates of messages that engine and session make: ``{0}`` stands for each value.

A message is ``where: what is wrong: values; what to do``. Each part between semicolons is a template, without
the location, so that one translation of a remedy serves all messages that have it.

- of every file, the texts of error calls: arguments of what is raised, and texts of functions that make them
- the fixed texts that a place of such a text can have, as a remedy that depends on the case: where they have
  no values (the ending of a plural, ``"is" if one else "are"``), the text is taken once with each of them;
  the others are templates of their own, which are recognised as values
- those of others in ``resources.words.foreign``
- of the rooms in ``WHOLE``, whose texts the window shows, all sentences
"""

from __future__ import annotations

import ast
import itertools
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from docs.words.collecting import DECLARED, ROOT
from resources.words.foreign import FOREIGN
from studio.session.option_titles import with_titles

TOPS = ("engine", "resources", "studio/session", "studio/controllers", "studio/windows", "studio/app.py")
WHOLE = (
    *(f"engine/{room}/" for room in ("comparison", "debugger", "explain", "inference", "quantization")),
    *("engine/training/", "engine/jit/convert/", "resources/", "studio/session/"),
)
NO_MESSAGES = ("resources/models/", "resources/words/", "engine/training/rules/words.py")
MOST_FORMS = 8  # of one message, where it has words that depend on conditions
# Calls whose texts no message has.
_OF_LOGS = ("debug", "info", "warning", "exception", "getLogger")
_SILENT = frozenset((*_OF_LOGS, "compile", "add_argument", "tr", "translate", "marked"))
_SETTINGS = ("declared", "Setting")  # messages have their examples alone
_ERRORS = ("warn", "kind")  # what functions call a class of errors that they are given
_ERROR_MAKER = re.compile(r"error|wrong|refus|problem|fail|invalid|unsupported|reason|explain", re.IGNORECASE)
_LOCATION = re.compile(r"(?:\{\d+\}|[\w.]+)(?:\[[^\]]*\])?: ")
_FIELD = re.compile(r"\{\d+\}")
_WORD = re.compile(r"[A-Za-z][a-z']{2,}|[A-Za-z]{2,}")
_PROSE = re.compile(r"[A-Za-z']{2,},? \{?[A-Za-z0-9']{1,}")
_CODE = re.compile(
    r"^\s*(?:def |import |from [\w.]+ import|class |lambda |nonlocal |return \w+$|_jst|<|@|%|#)"
    r"|\bif .+ else\b|\bis not None and\b|^(?:, )?\w+=\{\d+\}(?:, \{\d+\})?$|^-o |<td"
    r"|_jst\.|</?div|-src |-apple|\\x|::|%\(|%s|^\W*$|\n"
    r"|^(?:[\w.]+\()?(?:\w+=)?\{\d+\}(?:, \w+=\{\d+\})+(?:\{\d+\})?\)?$"
)


def messages(root: Path = ROOT) -> dict[str, set[str]]:
    """The templates, each with the files that have it."""
    found: dict[str, set[str]] = {text: {"resources/words/foreign.py"} for text in FOREIGN}
    for top in TOPS:
        paths = [root / top] if top.endswith(".py") else sorted((root / top).rglob("*.py"))
        for path in paths:
            name = path.relative_to(root).as_posix()
            if not name.startswith(NO_MESSAGES):
                for text in messages_of(path.read_text(encoding="utf-8"), name.startswith(WHOLE)):
                    found.setdefault(text, set()).add(name)
    return found


def messages_of(source: str, whole: bool = False) -> set[str]:
    """The templates of one file: those of its error calls, or all sentences."""
    collector = _Collector(whole)
    collector.walk(ast.parse(source))
    return {part for text in collector.found for part in parts_of(text)}


def parts_of(template: str) -> Iterator[str]:
    """The parts of a template between semicolons, without location, their fields counted from 0."""
    for part in with_titles(template).split("; "):
        while (found := _LOCATION.match(part)) and _WORD.search(_FIELD.sub("", part[found.end() :])):
            part = part[found.end() :]
        words = _WORD.findall(_FIELD.sub(" ", part))
        if words and (len(words) > 1 or _FIELD.search(part)):
            numbers = itertools.count()
            yield _FIELD.sub(lambda _, numbers=numbers: f"{{{next(numbers)}}}", part)  # type: ignore[misc]


Names = dict[str, list[ast.expr]]


class _Collector:
    """Walks a tree by a list of what is left: there are two million nodes."""

    def __init__(self, whole: bool) -> None:
        self.found: set[str] = set()
        self._whole = whole
        # Nodes, the function that has each, and whether it makes messages.
        self._left: list[tuple[ast.AST, ast.AST, bool]] = []
        self._top: ast.AST = ast.Module([], [])
        self._within = self._top
        self._names: dict[ast.AST, Names] = {}

    def walk(self, tree: ast.AST) -> None:
        """Collect the templates below ``tree``."""
        self._top = tree
        self._left.append((tree, tree, False))
        while self._left:
            node, self._within, makes = self._left.pop()
            kind = type(node)
            if kind in _LEAVES:
                if kind is ast.Constant and self._whole:
                    self._take(node)
            elif kind is ast.JoinedStr:
                if self._whole:
                    self._take(node)
                fields = [each.value for each in node.values if isinstance(each, ast.FormattedValue)]
                self._left += [(each, self._within, makes) for each in fields]  # not its pieces
            else:
                self._visit(node, kind, makes)

    def _visit(self, node: ast.AST, kind: type, makes: bool) -> None:
        if kind is ast.Call:
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in _SILENT:
                return
            if name in _SETTINGS:
                examples = [each.value for each in node.keywords if each.arg == "example"]
                self._left += [(each, self._within, makes) for each in examples]
                return
            if name in DECLARED:  # their other texts are known by docs.words.collecting
                _, places, names = DECLARED[name]
                given = [each for place, each in enumerate(node.args) if place not in places]
                given += [each.value for each in node.keywords if each.arg not in names]
                self._left += [(each, self._within, makes) for each in given]
                return
            if name in _ERRORS or _ERROR_MAKER.search(name) or _is_class_of(node.func):
                self._take_arguments(node)
        elif kind is ast.Raise and isinstance(node.exc, ast.Call):
            self._take_arguments(node.exc)
        elif kind is ast.FunctionDef:
            returns = "" if node.returns is None else ast.unparse(node.returns)
            makes = "str" in returns or bool(_ERROR_MAKER.search(returns + node.name))
            for each in (*node.args.defaults, *node.args.kw_defaults):
                if type(each) is ast.Name:  # what a message says unless it is given
                    self._take(each)
            self._within = node
        elif makes and kind is ast.Return and node.value is not None:
            self._take(node.value, one_word=True)
        elif makes and kind is ast.Assign:
            self._take(node.value)
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                self._left.append((value, self._within, makes))
            elif type(value) is list:
                nodes = [each for each in value if isinstance(each, ast.AST) and not _is_docstring(each)]
                self._left += [(each, self._within, makes) for each in nodes]

    def _take_arguments(self, call: ast.Call) -> None:
        for each in (*call.args, *(keyword.value for keyword in call.keywords)):
            self._take(each)

    def _take(self, node: ast.AST, one_word: bool = False) -> None:
        if type(node) is ast.JoinedStr or type(node) is ast.Name:
            for each in _choices(node, self._known(self._within), self._known(self._top)):
                self._add(each, one_word=True)
        self._add(node, one_word)

    def _add(self, node: ast.AST, one_word: bool) -> None:
        names = {} if type(node) is ast.Constant else self._known(self._within)
        for text in itertools.islice(_forms(node, names), MOST_FORMS):
            bare = _FIELD.sub("0", text)
            if _CODE.search(text) is None and (_PROSE.search(bare) or (one_word and " " in text.strip())):
                self.found.add(text.strip())

    def _known(self, scope: ast.AST) -> Names:
        known = self._names.get(scope)
        if known is None:
            known = self._names[scope] = _names_of(scope)
        return known


_LEAVES = frozenset(
    (ast.Name, ast.Constant, ast.Load, ast.Store, ast.Import, ast.ImportFrom, ast.arg, ast.Pass)
)


def _is_class_of(called: ast.expr) -> bool:
    """Whether it is ``type(error)``, which makes another error of that class."""
    return isinstance(called, ast.Call) and isinstance(called.func, ast.Name) and called.func.id == "type"


def _is_docstring(node: ast.AST) -> bool:
    return type(node) is ast.Expr and type(node.value) is ast.Constant


def _names_of(scope: ast.AST) -> Names:
    """The names that a function, or a module outside of functions, sets to texts only, with those."""
    texts: Names = {}
    count: Counter[str] = Counter()
    assigned = [each for each in getattr(scope, "body", ()) if type(each) is ast.Assign]
    names = (name for each in assigned for name in (each, *each.targets))
    for node in names if type(scope) is ast.Module else ast.walk(scope):
        if type(node) is ast.Name and type(node.ctx) is ast.Store:
            count[node.id] += 1
        elif type(node) is ast.arg:
            count[node.arg] += 1
        elif type(node) is ast.Assign and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            if _is_text(node.value):
                texts.setdefault(node.targets[0].id, []).append(node.value)
    return {name: values for name, values in texts.items() if len(values) == count[name]}


def _choices(message: ast.AST, names: Names, constants: Names) -> Iterator[ast.expr]:
    """The fixed texts of the names in a message that stay fields of it, and of the names in those."""
    waiting: list[ast.AST] = [message]
    seen = set()
    while waiting:
        for node in ast.walk(waiting.pop()):
            value = node.value if isinstance(node, ast.FormattedValue) else node
            if not isinstance(value, ast.Name) or value.id in seen:
                continue
            if value is message or _constants_of(value, names) is None:
                seen.add(value.id)
                found = names.get(value.id) or constants.get(value.id, [])
                waiting += found
                for each in found:
                    yield from _of_table(each)


def _of_table(node: ast.expr) -> Iterator[ast.expr]:
    """The texts of a table and of what is taken from one; another expression itself."""
    match node:
        case ast.Dict(values=values):
            yield from values
        case ast.Subscript(value=table):
            yield from _of_table(table)
        case ast.Call(func=ast.Attribute(value=table, attr="get"), args=[_, *rest]):
            yield from (*_of_table(table), *rest)
        case _:
            yield node


def _is_text(node: ast.expr) -> bool:
    match node:
        case ast.Dict(values=values):
            return all(map(_is_text, values))
        case ast.Name() | ast.Subscript(value=ast.Name() | ast.Dict()):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name() | ast.Dict(), attr="get")):
            return True
        case ast.Constant(value=str()) | ast.JoinedStr():
            return True
        case ast.IfExp(body=one, orelse=other):
            return _is_text(one) and _is_text(other)
    return False


def _constants_of(node: ast.expr, names: Names) -> list[str] | None:
    """The texts that an expression can be, where all are written there and have no values."""
    match node:
        case ast.Constant(value=str(text)):
            return None if "--" in text else [text]  # an option, of another program
        case ast.IfExp(body=one, orelse=other):
            each = _constants_of(one, names), _constants_of(other, names)
            return None if each[0] is None or each[1] is None else each[0] + each[1]
        case ast.Name(id=name) if name in names:
            found = [_constants_of(value, {}) for value in names[name]]
            return None if None in found else [text for texts in found for text in texts or ()]
        case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mult()):
            return ["", text]  # the ending of a plural
    return None


def _forms(node: ast.AST, names: Names) -> Iterator[str]:
    """The templates that an expression can be: one for each choice of its conditions."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=values):
            fields = itertools.count()
            pieces = [list(itertools.islice(_pieces(value, fields, names), MOST_FORMS)) for value in values]
            has_fields = any(_FIELD.search(piece) for choice in pieces for piece in choice)
            for choice in itertools.product(*pieces):
                text = "".join(choice)
                # A text without fields is never formatted: its braces are single.
                yield text if has_fields else text.replace("{{", "{").replace("}}", "}")
        case ast.IfExp(body=one, orelse=other):
            yield from _forms(one, names)
            yield from _forms(other, names)
        case ast.BoolOp(values=values) | ast.Tuple(elts=values):
            for value in values:
                yield from _forms(value, names)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            ends = list(_forms(right, names)) or ("",)
            for one, other in itertools.product(_forms(left, names) or ("",), ends):
                yield one + other
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format")):
            yield text


def _pieces(node: ast.AST, fields: Iterator[int], names: Names) -> Iterator[str]:
    """What can be in one place of an f-string: its text, the choices of a condition, or a field."""
    choices: list[str] | None = None
    if isinstance(node, ast.Constant):
        choices = [str(node.value)]
    elif isinstance(node, ast.FormattedValue) and node.format_spec is None and node.conversion == -1:
        choices = _constants_of(node.value, names)
    if choices is not None:
        for each in dict.fromkeys(choices):
            yield each.replace("{", "{{").replace("}", "}}")
        return
    yield f"{{{next(fields)}}}"
