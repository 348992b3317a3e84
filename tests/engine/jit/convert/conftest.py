"""A symbolic type that in truth knows its value, so that what was built can be compared with what Python
computes.
"""

from __future__ import annotations

import linecache
import operator
import random
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


class SymList:
    """Stands for a tensor array."""

    def __init__(self, items: Sym) -> None:
        self.items = items

    def leaves(self) -> list[Sym]:
        return [self.items]

    def with_leaves(self, leaves: list[Sym]) -> SymList:
        return SymList(*leaves)

    def append(self, item: Any) -> None:
        self.items = Sym([*self.items.value, item])

    def pop(self) -> Any:
        *rest, last = self.items.value
        self.items = Sym(rest)
        return last

    def __add__(self, other: list[Any]) -> SymList:
        return SymList(Sym([*self.items.value, *other]))

    def __getitem__(self, index: Any) -> Any:
        return self.items.value[index]


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

    def asked(self, value: Any) -> Any:
        return value

    def is_array(self, value: object) -> bool:
        return isinstance(value, SymList)

    def stands_for(self, value: object, kinds: Any) -> bool:
        return False

    def array(self, items: list[Any], like: Any) -> Any:
        if any(isinstance(item, str) for item in [*items, like]):
            return "a str is not a Tensor"
        return SymList(Sym(list(items)))

    def rank(self, value: Any) -> int:
        return 0

    def filled(self, value: Any, like: Any) -> Any:
        return value

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
    def undone_on(self, error: type[Exception] | tuple[type[Exception], ...]) -> Iterator[None]:
        yield

    def placeholder(self, like: Any) -> Any:
        return Sym(0) if isinstance(like.value, bool | int | float) else None

    def number_of(self, value: object) -> float | None:
        return None

    def is_truth(self, value: object) -> bool:
        return isinstance(value, Sym | bool)

    def logical_and(self, left: Any, right: Any) -> Sym:
        return Sym(bool(Sym(left).value) and bool(Sym(right).value))

    def logical_or(self, left: Any, right: Any) -> Sym:
        return Sym(bool(Sym(left).value) or bool(Sym(right).value))

    def logical_not(self, value: Any) -> Sym:
        return Sym(not value.value)

    def check(self, value: Any, message: str) -> None:
        self.built.append(f"check {value.value} {message}")

    def show(self, value: Any, message: str) -> None:
        self.built.append(f"show {message} {value.value}")

    def length(self, value: Any) -> Any:
        # A tuple has a known first dimension, a list stands for one that is known only to the running
        # Program.
        return len(value.value) if isinstance(value.value, tuple) else Sym(len(value.value))

    def scalar(self, value: Any) -> Any:
        return value

    def as_number(self, value: Any, like: float) -> Any:
        return value

    def each_run(self, function):
        return None

    def data_method(self, value: Any, name: str) -> None:
        return None

    def rows(self, value: Any) -> Any:
        return SymList(Sym(list(value.value)))

    def reduced(self, name: str, value: Any) -> Any:
        return None

    def sorted(self, items: Any, reverse: bool) -> Any:
        return "symbolic values have no order"

    def holds(self, container: Any, value: Any) -> Any:
        return None

    def cast(self, value: Any, dtype: str) -> Sym:
        return Sym({"bool": bool, "int32": int, "int64": int, "float32": float}[dtype](value.value))


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
        exec(compile(text, filename, "exec", dont_inherit=True), namespace)
        return namespace[name]

    return make


@pytest.fixture
def plain(fake: FakeBackend) -> object:
    """Python values only: nothing may be built."""
    return fake


VARIABLES = ("a", "b", "c")


class Writer:
    """Writes the body of a function of a, b, c; loops end because each has a counter of its own."""

    def __init__(self, seed: int, python_only: bool, born_anywhere: bool) -> None:
        self.random = random.Random(seed)
        self.counters = 0
        self.python_only = (
            python_only  # `with`, `try` and other things that a symbolic value can't go through
        )
        self.born_anywhere = born_anywhere  # variables that some paths leave unbound
        self.lines: list[str] = []

    def text(self) -> str:
        self.block(1, depth=3, in_loop=False)
        self.line(
            1,
            f"return ({self.value()}, b, {self.value()})" if self.python_only else "return a * 7 + b * 3 + c",
        )
        return "def f(a, b, c):\n" + "\n".join(self.lines)

    def line(self, level: int, text: str) -> None:
        self.lines.append("    " * level + text)

    def name(self) -> str:
        names = (*VARIABLES, "d", "e") if self.born_anywhere else VARIABLES
        return self.random.choice(names)

    def value(self) -> str:
        pick = self.random.random()
        if pick < 0.3:
            return str(self.random.randrange(-3, 6))
        if pick < 0.7:
            return self.name()
        if pick < 0.9:
            return f"({self.value()} {self.random.choice('+-')} {self.value()})"
        return f"({self.value()} if {self.test()} else {self.value()})"

    def test(self) -> str:
        pick = self.random.random()
        sign = self.random.choice(("<", ">", "==", "<=", "!="))
        if pick < 0.5:
            return f"{self.name()} {sign} {self.value()}"
        if pick < 0.6:
            return f"not {self.test()}"
        if pick < 0.7:
            return f"{self.value()} <= {self.name()} < {self.value()}"
        return f"({self.test()} {self.random.choice(('and', 'or'))} {self.test()})"

    def block(self, level: int, depth: int, in_loop: bool) -> None:
        for _ in range(self.random.randrange(1, 4)):
            self.statement(level, depth, in_loop)

    def statement(self, level: int, depth: int, in_loop: bool) -> None:
        pick = self.random.random()
        if depth == 0 or pick < 0.35:
            self.line(
                level,
                f"{self.name()} = {self.value()}" if pick < 0.25 else f"{self.name()} += {self.value()}",
            )
        elif pick < 0.6:
            self.branch(level, depth, in_loop)
        elif pick < 0.8:
            self.loop(level, depth)
        elif pick < 0.9:
            self.line(level, f"if {self.test()}:")
            jumps = ["return " + ("a * 5 + b" if not self.python_only else f"({self.value()}, 1, 2)")]
            jumps += ["break", "continue"] * 2 if in_loop else []
            self.line(level + 1, self.random.choice(jumps))
        elif self.python_only:
            self.line(level, "try:")
            self.block(level + 1, depth - 1, in_loop)
            if self.random.random() < 0.3:
                self.line(level + 1, "a = 1 // c")
            self.line(level, "except ZeroDivisionError:")
            self.block(level + 1, depth - 1, in_loop)
            if self.random.random() < 0.5:
                self.line(level, "else:")
                self.block(level + 1, depth - 1, in_loop)
            if self.random.random() < 0.5:
                self.line(level, "finally:")
                self.line(level + 1, f"{self.name()} = {self.value()}")
        else:
            self.branch(level, depth, in_loop)

    def branch(self, level: int, depth: int, in_loop: bool) -> None:
        self.line(level, f"if {self.test()}:")
        self.block(level + 1, depth - 1, in_loop)
        if self.random.random() < 0.3:
            self.line(level, f"elif {self.test()}:")
            self.block(level + 1, depth - 1, in_loop)
        if self.random.random() < 0.6:
            self.line(level, "else:")
            self.block(level + 1, depth - 1, in_loop)

    def loop(self, level: int, depth: int) -> None:
        self.counters += 1
        counter = f"n{self.counters}"
        if self.random.random() < 0.5:
            self.line(level, f"{counter} = 0")
            self.line(level, f"while {counter} < 4 and {self.test()}:")
            self.line(level + 1, f"{counter} += 1")
        else:
            self.line(level, f"for {counter} in range({self.random.choice(('3', 'a % 5', 'b % 4'))}):")
        self.block(level + 1, depth - 1, in_loop=True)
        if self.random.random() < 0.3:
            self.line(level, "else:")
            self.block(level + 1, depth - 1, in_loop=False)


@pytest.fixture
def random_text() -> Callable[..., str]:
    """The source of a random function `f(a, b, c)` for a seed."""

    def write(seed: int, python_only: bool = False, born_anywhere: bool = False) -> str:
        return Writer(seed, python_only, born_anywhere).text()

    return write
