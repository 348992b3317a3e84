"""Converted functions are the functions that they came from, as far as Python can tell."""

from __future__ import annotations

import functools
import gc
import inspect
import sys
import traceback
import weakref
from typing import Any

import pytest

from engine.core.errors import ConversionError
from engine.jit.convert.convert import convert, pass_by_pass

SHARED = 1


def double(value):
    return value * 2


def test_text_and_place() -> None:
    def choose(x):
        # a comment
        if x:
            return 1
        return 2

    made = convert(choose)
    assert made.filename == __file__
    assert made.original_source.splitlines()[:3] == ["def choose(x):", "    # a comment", "    if x:"]
    assert inspect.getsourcelines(choose)[1] == made.first_line
    assert made.code == (
        "def choose(x):\n"
        "    return_value_0: _jst.Undefined\n"
        "\n"
        "    def true_fn_0():\n"
        "        nonlocal return_value_0\n"
        "        return_value_0 = 1\n"
        "\n"
        "    def false_fn_0():\n"
        "        nonlocal return_value_0\n"
        "        return_value_0 = 2\n"
        "\n"
        "    _jst.convert_ifelse(x, true_fn_0, false_fn_0, state=lambda: (return_value_0,))\n"
        "    return return_value_0"
    )
    shown = pass_by_pass(choose)
    assert [name for name, _ in shown] == ["original", "returns", "ifs", "local_names"]
    assert shown[-1][1] == made.code


def test_signature_defaults_and_attributes() -> None:
    def f(a, /, b=[1], *rest, c: int = 2, d, **more) -> str:  # noqa: B006
        """What it does."""
        return [a, b, rest, c, d, more] if a else None

    f.mark = object()
    made = convert(f).function
    assert inspect.signature(made) == inspect.signature(f)
    assert made(1, d=4, e=5) == f(1, d=4, e=5)
    assert made(1, d=4)[1] is f.__defaults__[0]
    assert (made.__doc__, made.__name__, made.__qualname__, made.__module__, made.mark) == (
        f.__doc__,
        f.__name__,
        f.__qualname__,
        f.__module__,
        f.mark,
    )


def test_globals_are_the_users_live_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    def f():
        return double(SHARED) if SHARED else "none"

    made = convert(f).function
    assert made.__globals__ is f.__globals__
    assert "_jst" not in globals()
    assert made() == 2
    monkeypatch.setitem(globals(), "SHARED", 5)
    assert made() == 10


def test_global_assignment_in_a_branch(define: Any, plain: Any) -> None:
    f = define("count = 0\ndef f(x):\n    if x:\n        global count\n        count += 1\n    return count")
    made = convert(f).function
    assert [made(1), made(0), made(1)] == [1, 1, 2]
    assert f.__globals__["count"] == 2


def test_closures_share_the_original_cells(plain: Any) -> None:
    count = 0
    late: list[int]

    def add(x):
        nonlocal count
        if x > 0:
            count += x
        while count > 100:
            count -= 100
        return len(late)

    made = convert(add).function
    late = [1, 2, 3]
    assert made(7) == 3
    made(95)
    assert count == 2
    add(1)
    assert count == 3


def test_nested_functions_are_converted_in_place(sym: Any) -> None:
    def outer(x):
        total = 0

        def inner(y):
            nonlocal total
            if y > 0:
                total = total + y
            else:
                total = total - y
            return total

        inner(x)
        inner(-x - 1)
        return inner(x), total

    made = convert(outer).function
    assert made(3) == outer(3)
    for value in (3, -3):
        assert [part.value for part in made(sym(value))] == list(outer(value))


def test_qualified_names_and_frames() -> None:
    def f(x):
        if x:

            def g():
                raise KeyError(x)

            class C:
                def method(self):
                    return 1

        return g, C, lambda: 1

    wanted, made = f(1), convert(f).function(1)
    assert [part.__qualname__ for part in made[:2]] == [part.__qualname__ for part in wanted[:2]]
    assert made[1].method.__qualname__ == wanted[1].method.__qualname__


def test_traceback_shows_the_users_lines(plain: Any) -> None:
    def f(x):
        y = 1
        for i in range(3):
            if i == x:
                while True:
                    y = [
                        1,
                        y / 0,
                    ]
        return y

    def lines(function):
        with pytest.raises(ZeroDivisionError) as caught:
            function(1)
        frames = traceback.extract_tb(caught.value.__traceback__)
        return [(frame.lineno, frame.name, frame.line) for frame in frames if frame.filename == __file__][1:]

    start = f.__code__.co_firstlineno
    assert lines(f) == [(start + 7, "f", "y / 0,")]
    assert lines(convert(f).function) == [
        (start + 2, "f", "for i in range(3):"),
        (start + 3, "f", "if i == x:"),
        (start + 4, "f", "while True:"),
        (start + 7, "f", "y / 0,"),
    ]


class Base:
    def run(self, x):
        return [("base", x)]

    @classmethod
    def make(cls, x):
        return cls, x if x else None


class Derived(Base):
    __secret = 3

    def run(self, x):
        if x > 0:
            found = super().run(x)
        else:
            found = [__class__.__name__, self.__secret]
        return found + [self.__helper(x) for _ in range(1)]

    def __helper(self, x):
        return x if x else self.__secret

    @classmethod
    def make(cls, x):
        if x:
            return super().make(x)
        return Derived

    @staticmethod
    def fixed(x):
        return "yes" if x else "no"


@pytest.mark.parametrize("x", [0, 2])
def test_methods(x: int) -> None:
    class Local(Derived):
        def run(self, x):
            if x:
                return [Local, *super().run(x)]
            return None

    for cls in (Derived, Local):
        assert convert(cls().run).function(x) == cls().run(x)
    assert convert(Derived.make).function(x) == Derived.make(x)
    assert convert(Derived.fixed).function(x) == Derived.fixed(x)


def test_recursion(sym: Any) -> None:
    def fact(n):
        return n * fact(n - 1) if n > 1 else 1

    assert convert(fact).function(6) == 720


def test_decorators() -> None:
    calls = []

    def noted(function):
        @functools.wraps(function)
        def wrapper(*args):
            calls.append(args)
            return function(*args) if args else None

        return wrapper

    @noted
    def f(x):
        return 1 if x else 2

    made = convert(f)
    assert made.code.startswith("def wrapper(*args):"), "the function at hand is the wrapper"
    assert made.function(0) == 2
    assert convert(f.__wrapped__).code.startswith("def f(x):"), "decorators are stripped"
    assert calls == [(0,)]


def test_lambdas_on_one_line() -> None:
    pair = (lambda x: x if x else "first"), (lambda x: "second" if x else x)
    assert [convert(part).function(0) for part in pair] == ["first", 0]
    assert convert(pair[1]).original_source == 'lambda x: "second" if x else x'
    assert convert(pair[1]).code == "lambda x: _jst.convert_ifexp(x, lambda: 'second', lambda: x)"


def test_walrus_keeps_its_scope(plain: Any) -> None:
    def f(items):
        found = []
        while (item := items.pop()) and (double_item := item * 2):
            found.append(double_item)
        if (n := len(items)) > 1 or (m := 0):
            return found, n, item
        return found, [k := i for i in range(3)], k, m

    for items in ([0, 1, 2], [1, 2, 0, 4], [5, 0, 7, 3]):
        assert convert(f).function(list(items)) == f(list(items))


def test_exceptions_with_and_match(plain: Any) -> None:
    class Quiet:
        def __enter__(self):
            return self

        def __exit__(self, *error):
            return error[0] is ValueError

    def f(x):
        log = []
        for i in range(4):
            try:
                with Quiet():
                    if i == x:
                        log.append("raise")
                        raise ValueError(i)
                    if i == x + 1:
                        continue
                    match i:
                        case 0 | 1:
                            log.append(("low", i))
                        case other if other == x - 1:
                            return log, other
                    [1, 2, 3][i]
            except IndexError as error:
                log.append(str(error))
                break
            else:
                log.append("else")
            finally:
                log.append("finally")
        else:
            log.append("no break")
        try:
            error  # noqa: B018, F821
        except UnboundLocalError as unbound:
            log.append(str(unbound))
        return log

    for x in range(-1, 6):
        assert convert(f).function(x) == f(x)


def test_deleted_names(plain: Any) -> None:
    def f(x):
        y = 1
        if x:
            del y
        try:
            return y
        except UnboundLocalError as error:
            return str(error)

    for x in (0, 1):
        assert convert(f).function(x) == f(x)


def test_conversion_is_kept_per_code_object() -> None:
    def make(n):
        def f():
            return n if n else None

        return f

    first, second = convert(make(1)), convert(make(2))
    assert first.function.__code__ is second.function.__code__
    assert (first.function(), second.function()) == (1, 2)


@pytest.mark.skipif(
    sys.version_info >= (3, 12) and sys.monitoring.get_tool(sys.monitoring.COVERAGE_ID) is not None,
    reason="line coverage by sys.monitoring holds the code objects that it counts",
)
def test_conversion_goes_with_its_function(define: Any) -> None:
    f = define("def f(x):\n    return 1 if x else 2")
    seen = weakref.ref(convert(f).function.__code__)
    assert seen() is not None
    del f
    gc.collect()
    assert seen() is None


def test_same_text_in_two_files_stays_apart(define: Any) -> None:
    text = "def f(x):\n    if x:\n        raise KeyError(x)"
    first, second = define(text), define(text)
    assert first.__code__ == second.__code__ or first.__code__.co_filename != second.__code__.co_filename
    assert convert(first).filename != convert(second).filename


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("def f(x):\n    yield x", 2, "a `yield`"),
        ("async def f(x):\n    return x", 1, "an `async def`"),
        ("def f(x):\n    x = 1\n    return locals()", 3, r"a call of `locals\(\)`"),
        (
            "def f(x):\n    for y in x:\n        try: y\n        finally: break",
            4,
            "a `break` inside `finally`",
        ),
    ],
)
def test_refused_functions(define: Any, text: str, line: int, reason: str) -> None:
    f = define(text)
    with pytest.raises(
        ConversionError, match=rf"written for a test.*:{line}: `f` can't .*{reason}.*not_to_static"
    ):
        convert(f)


def test_name_of_the_runtime(define: Any) -> None:
    with pytest.raises(ConversionError, match=r"uses the name `_jst`.*rename"):
        convert(define("def f(x):\n    return _jst"))


def test_annotated_local_names(plain: Any) -> None:
    def f(x):
        y: int
        if x:
            y: int = 1
        return y

    for x in (0, 1):
        assert outcome(convert(f).function, x) == outcome(f, x)


def outcome(function: Any, *args: Any) -> Any:
    try:
        return function(*args)
    except NameError as error:
        return type(error), str(error)


def test_nested_function_that_is_marked(sym: Any) -> None:
    def not_to_static(function):
        function._not_to_static = True
        return function

    def f(x):
        @not_to_static
        def inner(y):
            return 1 if y else 2

        return inner(x)

    assert convert(f).function(1) == 1
    with pytest.raises(ConversionError, match="no truth value"):
        convert(f).function(sym(1))


def test_unreadable_source() -> None:
    namespace: dict[str, Any] = {}
    exec("def f(x):\n    return x", namespace)
    with pytest.raises(ConversionError, match="the source of `f` could not be read"):
        convert(namespace["f"])
    with pytest.raises(ConversionError, match="is not a Python function"):
        convert(len)


def test_changed_file(define: Any) -> None:
    import linecache

    f = define("def f(x):\n    return x")
    name = f.__code__.co_filename
    text = "# moved\ndef f(x):\n    return x"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    with pytest.raises(ConversionError, match="has no `f` on this line"):
        convert(f)


def test_future_annotations_of_the_user(define: Any) -> None:
    f = define("def f():\n    def g(x: missing): return 1 if x else 2\n    return g", name="f")
    with pytest.raises(NameError):
        convert(f).function()

    def outer():
        def g(x: not_defined_anywhere):  # noqa: F821
            return x

        return g

    assert convert(outer).function().__annotations__ == {"x": "not_defined_anywhere"}


def test_a_ladder_of_returns(define: Any) -> None:
    def ladder(steps: int) -> str:
        return "def f(x):\n" + "".join(f"    if x == {i}:\n        return {i * 10}\n" for i in range(steps))

    assert [convert(define(ladder(40))).function(x) for x in (0, 39, 40)] == [0, 390, None]
    with pytest.raises(ConversionError, match=r"`f` nests .* too deeply"):
        convert(define(ladder(400)))


def test_lines_of_a_decorated_function_are_the_users(define):
    function = define(
        """
        def same(f):
            return f

        @same
        @same
        def f(x):
            name = "a"
            while x > 0:
                x = x - 1
            return name.missing
        """
    )
    converted = convert(function).function
    with pytest.raises(AttributeError) as caught:
        converted(1)
    entries = traceback.extract_tb(caught.tb)
    lines = [entry.lineno for entry in entries if entry.filename.startswith("<written")]
    assert lines == [11]
