"""Names of a function: what is bound, read and captured where, as visitors with their results in dicts and
sets.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
RUNTIME = "_jst"


def is_runtime_call(node: ast.AST, *names: str) -> bool:
    """Whether the node calls the conversion's runtime (one of its functions in `names`, if any are given)."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    owner = node.func.value
    return isinstance(owner, ast.Name) and owner.id == RUNTIME and (not names or node.func.attr in names)


class Names(ast.NodeVisitor):
    """What statements or expressions of one function do to names; nested functions count by what they
    capture.

    `bound` and `read` are ordered by first appearance (dicts used as ordered sets). A lambda handed straight
    to the runtime is evaluated on the spot, so it counts as if it were written inline.
    """

    def __init__(self, nodes: Iterable[ast.AST] = ()) -> None:
        self.bound: dict[str, None] = {}
        self.read: dict[str, None] = {}
        self.globals: dict[str, None] = {}
        self.nonlocals: dict[str, None] = {}
        self.captured: dict[str, None] = {}
        self.written_inside: dict[str, None] = {}  # bound by a nested function's `nonlocal`
        self.calls = False
        for node in nodes:
            self.visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        (self.read if isinstance(node.ctx, ast.Load) else self.bound)[node.id] = None

    def visit_Constant(self, node: ast.Constant) -> None:
        pass

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self.read[node.target.id] = None
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        # The annotation of a local name is not evaluated.
        self.visit(node.target)
        if node.value is not None:
            self.visit(node.value)

    def visit_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.read[target.id] = None
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        self.calls = True
        if not is_runtime_call(node):
            self.generic_visit(node)
            return
        for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
            if isinstance(argument, ast.Lambda):
                self._inline(argument)
            else:
                self.visit(argument)

    def _inline(self, function: ast.Lambda) -> None:
        own = parameters(function.args)
        if not own:
            self.visit(function.body)
            return
        inner = Names([function.body])
        for name in inner.read:
            if name not in own:
                self.read[name] = None
        for name in inner.captured:
            if name not in own:
                self.captured[name] = None
        self.bound.update(inner.bound)
        self.calls |= inner.calls

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.bound[node.name] = None
        for decorator in node.decorator_list:
            self.visit(decorator)
        self._defaults(node.args)
        self._capture(parameters(node.args), node.body)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._defaults(node.args)
        self._capture(parameters(node.args), [node.body])

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.bound[node.name] = None
        for part in [*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)]:
            self.visit(part)
        inner = Names(node.body)
        self._take(inner, own=set())

    def visit_ListComp(self, node: Comprehension) -> None:
        inner = Names()
        targets = Names(generator.target for generator in node.generators)
        for child in ast.iter_child_nodes(node):
            inner.visit(child)
        for name in inner.read:
            if name not in targets.bound:
                self.read[name] = None
        for walrus in (part for part in ast.walk(node) if isinstance(part, ast.NamedExpr)):
            self.bound[walrus.target.id] = None
        self.captured.update(inner.captured)
        self.calls |= inner.calls

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self.visit_ListComp(node)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self.visit_ListComp(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self.visit_ListComp(node)

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            self.bound[alias.asname or alias.name.split(".")[0]] = None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self.visit_Import(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.bound[node.name] = None
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar) -> None:
        if node.name:
            self.bound[node.name] = None
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        self.visit_MatchAs(node)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self.bound[node.rest] = None
        self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> None:
        self.globals.update(dict.fromkeys(node.names))

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.nonlocals.update(dict.fromkeys(node.names))

    def _defaults(self, args: ast.arguments) -> None:
        for default in [*args.defaults, *args.kw_defaults]:
            if default is not None:
                self.visit(default)

    def _capture(self, own: set[str], body: Iterable[ast.AST]) -> None:
        self._take(Names(body), own)

    def _take(self, inner: Names, own: set[str]) -> None:
        local = (own | set(inner.bound)) - set(inner.nonlocals) - set(inner.globals)
        for name in [*inner.read, *inner.captured, *inner.nonlocals]:
            if name not in local:
                self.captured[name] = None
        for name in [*inner.nonlocals, *inner.written_inside]:
            if name not in local:
                self.written_inside[name] = None


def parameters(args: ast.arguments) -> set[str]:
    """The names of all parameters."""
    positional = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    return {arg.arg for arg in [*positional, *filter(None, (args.vararg, args.kwarg))]}


def own_nodes(statements: Iterable[ast.AST]) -> Iterable[ast.AST]:
    """All nodes below the statements that belong to the same function: nested functions and classes are left
    out.
    """
    pending = list(statements)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            pending += ast.iter_child_nodes(node)


def all_names(tree: ast.AST) -> set[str]:
    """Every identifier in the tree, so that a generated name can avoid them."""
    found: set[str] = set()
    for node in ast.walk(tree):
        for field in ("id", "arg", "name", "attr"):
            value = getattr(node, field, None)
            if isinstance(value, str):
                found.add(value)
        names = getattr(node, "names", ())
        found.update(name for name in names if isinstance(name, str))
    return found
