"""What every pass stands on: the context of one conversion, and a visitor that knows where functions begin
and end.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from engine.jit.convert.flow import StateNames, state_names
from engine.jit.convert.scope import all_names, own_nodes

Pass = Callable[[ast.Module, "Context"], ast.Module]
JUMPS = (ast.Return, ast.Break, ast.Continue)
FRAME_READERS = frozenset({"locals", "eval", "exec", "vars", "dir"})


@dataclass
class Context:
    """One conversion: where the source is, the class it stands in, and names handed out so far.

    `helpers` are the names of generated functions, `generated` those of generated variables.
    """

    taken: set[str]
    filename: str = "<source>"
    class_name: str | None = None
    helpers: set[str] = field(default_factory=set)
    generated: set[str] = field(default_factory=set)
    _counts: dict[str, int] = field(default_factory=dict)
    _states: dict[ast.AST, StateNames] = field(default_factory=dict)
    _left: dict[ast.FunctionDef, bool] = field(default_factory=dict)

    @classmethod
    def of(cls, tree: ast.AST, filename: str = "<source>", class_name: str | None = None) -> Context:
        """A context whose generated names avoid every name of the tree."""
        return cls(all_names(tree), filename, class_name)

    def name(self, stem: str) -> str:
        """A new variable's name such as `break_0`."""
        while True:
            number = self._counts.get(stem, 0)
            self._counts[stem] = number + 1
            name = f"{stem}_{number}"
            if name not in self.taken:
                self.generated.add(name)
                return name

    def names(self, *stems: str) -> tuple[str, ...]:
        """New names of helper functions that belong together: `true_fn_0` and `false_fn_0`."""
        number = self._counts.get(stems[0], 0)
        while any(f"{stem}_{number}" in self.taken for stem in stems):
            number += 1
        for stem in stems:
            self._counts[stem] = number + 1
        names = tuple(f"{stem}_{number}" for stem in stems)
        self.helpers.update(names)
        return names

    def state(self, node: ast.stmt, function: ast.FunctionDef) -> StateNames:
        """Names that the branch or loop `node` binds; found for all of the function before the first one is
        rewritten.
        """
        if node not in self._states:
            self._states.update(state_names(function))
        return self._states[node]

    def leaves(self, function: ast.FunctionDef) -> bool:
        """Whether no pass changes this function: it is marked `not_to_static` or can't be converted.

        Decided once, since no pass adds or takes away a reason and every pass asks.
        """
        left = self._left.get(function)
        if left is None:
            left = self._left[function] = _is_marked(function) or reason_to_leave(function) is not None
        return left


class FunctionPass(ast.NodeTransformer):
    """Visits statements and expressions of functions; bodies of classes, coroutines and generators stay as
    they are.

    `self.owner` is the user's function that the visited node belongs to (None inside a bare lambda).
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self.owner: ast.FunctionDef | None = None

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements' replacements."""
        result: list[ast.stmt] = []
        for statement in statements:
            new = self.visit(statement)
            if isinstance(new, list):
                result += new
            elif new is not None:
                result.append(new)
        return result

    def function(self, node: ast.FunctionDef) -> ast.AST:
        """Rewrite one function of the user's; a pass about whole functions overrides this."""
        node.body = self.block(node.body)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if node.name in self.context.helpers:
            node.body = self.block(node.body)
            return node
        if self.context.leaves(node):
            return node
        outer, self.owner = self.owner, node
        result = self.function(node)
        self.owner = outer
        return result

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        node.target = self.visit(node.target)
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        node.body = self.visit(node.body)
        return node


def _is_marked(function: ast.FunctionDef) -> bool:
    """Whether the function is decorated with `not_to_static`."""
    names = (ast.unparse(decorator) for decorator in function.decorator_list)
    return any(name.rpartition(".")[2] == "not_to_static" for name in names)


def reason_to_leave(node: ast.AST) -> tuple[str, int] | None:
    """Why a function can't be converted and runs as it is written, with the line of the reason; or None."""
    if isinstance(node, ast.AsyncFunctionDef):
        return "an `async def`", node.lineno
    body = node.body if isinstance(node, ast.FunctionDef) else [node]
    for part in own_nodes(body):
        match part:
            case ast.Yield() | ast.YieldFrom():
                return "a `yield`, it is a generator", part.lineno
            case ast.Await() | ast.AsyncFor() | ast.AsyncWith():
                return "an `await`", part.lineno
            case ast.Call(func=ast.Name(id=name)) if name in FRAME_READERS:
                # vars(x) and dir(x) look at an object, without an argument they look at the frame.
                if name not in ("vars", "dir") or not part.args:
                    return f"a call of `{name}()`, which sees the frame", part.lineno
            case ast.Try() | ast.TryStar():
                for inner in own_nodes(part.finalbody):
                    if isinstance(inner, JUMPS):
                        return f"a `{type(inner).__name__.lower()}` inside `finally`", inner.lineno
    return None


def has_walrus(*nodes: ast.AST) -> bool:
    """Whether evaluating the nodes binds a name: such an expression can't move into a lambda."""
    return any(isinstance(part, ast.NamedExpr) for node in nodes for part in own_nodes([node]))


def negated(name: str, at: ast.AST) -> ast.expr:
    """`not name`."""
    load = ast.copy_location(ast.Name(name, ast.Load()), at)
    return ast.copy_location(ast.UnaryOp(ast.Not(), load), at)


def or_pass(statements: list[ast.stmt], at: ast.AST) -> list[ast.stmt]:
    """The statements, or `pass` where none are left."""
    return statements or [ast.copy_location(ast.Pass(), at)]
