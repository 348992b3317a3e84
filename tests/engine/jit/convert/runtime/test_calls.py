"""Which callables converted code converts in turn."""

from __future__ import annotations

import functools
import json
import textwrap
from typing import Any

import pytest

from engine.core.errors import ConversionError
from engine.jit.convert.convert import convert
from engine.jit.convert.runtime import jst as runtime


def size(x):
    if x > 0:
        return x
    return -x


class Thing:
    factor = 3

    def method(self, x):
        return size(x) * self.factor if x > 0 else -x

    @classmethod
    def of_class(cls, x):
        return cls.factor * x if x > 0 else -x

    @staticmethod
    def static(x):
        return x if x > 0 else -x

    def __call__(self, x):
        return self.method(x) if x > 0 else x


@pytest.mark.parametrize(
    "callee",
    [
        size,
        Thing().method,
        Thing.of_class,
        Thing.static,
        Thing(),
        lambda x: x if x > 0 else -x,
        functools.partial(size),
        functools.partial(Thing().method),
    ],
)
def test_users_code_is_converted(sym: Any, callee: Any) -> None:
    def f(x):
        return callee(x)

    for value in (2, -2):
        assert convert(f).function(value) == callee(value)
        assert convert(f).function(sym(value)).value == callee(value)


@pytest.mark.parametrize("callee", [len, int.__add__, dict, Thing, textwrap.dedent, json.dumps, "text".upper])
def test_builtins_and_library_functions_are_not_converted(fake: Any, callee: Any) -> None:
    if callee is len:
        assert runtime.call(callee)([1, 2]) == 2
    else:
        assert runtime.call(callee) is callee


def test_engine_code_is_left_as_it_is(fake: Any) -> None:
    assert runtime.call(convert) is convert


def test_not_to_static(sym: Any) -> None:
    def callee(x):
        return x if x > 0 else -x

    callee._not_to_static = True
    assert runtime.call(callee) is callee
    with pytest.raises(ConversionError, match="no truth value"):
        convert(lambda x: callee(x)).function(sym(1))


def test_static_function_target(sym: Any) -> None:
    class Static:
        _static_function_target = staticmethod(size)

    def f(x):
        return static(x)

    static = Static()
    assert convert(f).function(sym(-4)).value == 4


def test_unreadable_function_runs_as_it_is(sym: Any) -> None:
    namespace: dict[str, Any] = {"__name__": "typed"}
    exec("def straight(x):\n    return x + 1\ndef bent(x):\n    return 1 if x else 2", namespace)
    straight, bent = namespace["straight"], namespace["bent"]

    def f(x):
        return straight(x)

    def g(x):
        return bent(x)

    assert convert(f).function(sym(1)).value == 2
    assert convert(g).function(1) == 1
    with pytest.raises(
        ConversionError, match=r"`bent`, which runs unconverted.*the source of `bent` could not be read"
    ):
        convert(g).function(sym(1))


def test_generator_runs_as_it_is(sym: Any) -> None:
    def items(x):
        for k in range(3):
            yield x + k

    def f(x):
        total = 0
        for item in items(x):
            total = total + item
        return total

    assert convert(f).function(sym(1)).value == 6


def test_ignored_modules(fake: Any, monkeypatch: pytest.MonkeyPatch, define: Any) -> None:
    import types

    from engine.jit.convert.runtime import calls

    callee = define("def f(x):\n    return x if x else 1", __name__="ignored.inner")
    monkeypatch.setattr(calls, "_ignored", set())
    assert runtime.call(callee) is not callee
    calls.ignore_modules([types.ModuleType("ignored")])
    assert runtime.call(callee) is callee
