"""A symbolic type that in truth knows its value, so that what was built can be compared with what Python
computes.
"""

from __future__ import annotations

import linecache
import operator
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from engine.core.errors import ConversionError
from engine.jit.convert import backend


class Sym:
    """Stands for a symbolic Tensor: arithmetic works, asking for a truth value or an index does not."""

    def __init__(self, value: Any) -> None:
        self.value = value.value if isinstance(value, Sym) else value

    def __repr__(self) -> str:
        return f"Sym({self.value!r})"

    def __bool__(self) -> bool:
        raise ConversionError("a symbolic Tensor has no truth value")

    def __len__(self) -> int:
        raise ConversionError("a symbolic Tensor has no length")

    def __getitem__(self, index: Any) -> Sym:
        return Sym(self.value[index.value if isinstance(index, Sym) else index])

    __hash__ = None  # type: ignore[assignment]


def _binary(function: Callable[[Any, Any], Any], swapped: bool) -> Callable[[Sym, Any], Sym]:
    def apply(self: Sym, other: Any) -> Sym:
        other = other.value if isinstance(other, Sym) else other
        return Sym(function(other, self.value) if swapped else function(self.value, other))

    return apply


for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    setattr(Sym, f"__{name}__", _binary(getattr(operator, name), swapped=False))
    setattr(Sym, f"__r{name}__", _binary(getattr(operator, name), swapped=True))
for name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Sym, f"__{name}__", _binary(getattr(operator, name), swapped=False))
Sym.__neg__ = lambda self: Sym(-self.value)  # type: ignore[attr-defined]


class FakeBackend:
    """Builds both sides of a branch as the engine does, and picks by value; records what was built."""

    def __init__(self) -> None:
        self.built: list[str] = []

    def is_symbolic(self, value: object) -> bool:
        return isinstance(value, Sym)

    def is_tensor(self, value: object) -> bool:
        return isinstance(value, Sym)

    def is_undecided(self, value: object) -> bool:
        return isinstance(value, Sym)

    def is_floating(self, value: Any) -> bool:
        return isinstance(value.value, float)

    def cond(self, pred: Any, true_fn: Any, false_fn: Any, join: Any) -> list[Any]:
        self.built.append("cond")
        first, second = join(true_fn(), false_fn())
        assert len(first) == len(second)
        return [Sym(value) for value in (first if pred.value else second)]

    def while_loop(self, test: Any, body: Any, leaves: list[Any]) -> list[Any]:
        self.built.append("while_loop")
        values = [Sym(leaf) for leaf in leaves]
        while True:
            going = test(values)
            assert isinstance(going, Sym), f"the test of a built loop gave {going!r}"
            if not going.value:
                return values
            following = body(values)
            assert len(following) == len(values)
            values = [Sym(value) for value in following]

    def trial(self, body: Any, leaves: list[Any]) -> Any:
        return body([Sym(leaf) for leaf in leaves])

    @contextmanager
    def undone_on(self, error: type[Exception]) -> Iterator[None]:
        yield

    def placeholder(self, like: Any) -> Any:
        return Sym(0) if isinstance(like.value, bool | int | float) else None

    def logical_and(self, left: Any, right: Any) -> Sym:
        return Sym(bool(Sym(left).value) and bool(Sym(right).value))

    def logical_or(self, left: Any, right: Any) -> Sym:
        return Sym(bool(Sym(left).value) or bool(Sym(right).value))

    def logical_not(self, value: Any) -> Sym:
        return Sym(not value.value)

    def length(self, value: Any) -> Any:
        # A tuple has a known first dimension, a list stands for one that is known only to the running
        # Program.
        return len(value.value) if isinstance(value.value, tuple) else Sym(len(value.value))

    def cast(self, value: Any, dtype: str) -> Sym:
        return Sym({"bool": bool, "int64": int, "float32": float}[dtype](value.value))


@pytest.fixture
def fake() -> Iterator[FakeBackend]:
    tools = FakeBackend()
    with backend.use(tools):
        yield tools


@pytest.fixture
def sym(fake: FakeBackend) -> type[Sym]:
    return Sym


@pytest.fixture
def define() -> Callable[..., Any]:
    """Define a function from text, as if it stood in a file: `define("def f(): ...", name="f")`."""
    count = 0

    def make(text: str, name: str = "f", **names: Any) -> Any:
        nonlocal count
        count += 1
        filename = f"<written for a test {count} {id(make)}>"
        text = textwrap.dedent(text)
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
        namespace: dict[str, Any] = {"__name__": "written", **names}
        exec(compile(text, filename, "exec"), namespace)
        return namespace[name]

    return make


@pytest.fixture
def plain(fake: FakeBackend) -> object:
    """Python values only: nothing may be built."""
    return fake
