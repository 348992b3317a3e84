"""Random small functions: the converted one does what Python does, with Python and with symbolic values."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from typing import Any

import pytest

from engine.jit.convert.convert import convert

VARIABLES = ("a", "b", "c")


class Writer:
    """Writes the body of a function of a, b, c; loops end because each has a counter of its own."""

    def __init__(self, seed: int, tests_of_python: bool, born_anywhere: bool) -> None:
        self.random = random.Random(seed)
        self.counters = 0
        self.tests_of_python = (
            tests_of_python  # `with`, `try` and other things that a symbolic value can't go through
        )
        self.born_anywhere = born_anywhere  # variables that some paths leave unbound
        self.lines: list[str] = []

    def text(self) -> str:
        self.block(1, depth=3, in_loop=False)
        self.line(
            1,
            f"return ({self.value()}, b, {self.value()})"
            if self.tests_of_python
            else "return a * 7 + b * 3 + c",
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
            jumps = ["return " + ("a * 5 + b" if not self.tests_of_python else f"({self.value()}, 1, 2)")]
            jumps += ["break", "continue"] * 2 if in_loop else []
            self.line(level + 1, self.random.choice(jumps))
        elif self.tests_of_python:
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


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    try:
        return function(*args)
    except (NameError, ZeroDivisionError) as error:
        return type(error), str(error)


SAMPLES = [(0, 0, 0), (1, 2, 3), (-2, 4, 1), (5, -1, 0), (3, 3, 3)]


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("born_anywhere", [False, True])
def test_python_values(plain: Any, define: Any, seed: int, born_anywhere: bool) -> None:
    text = Writer(seed, tests_of_python=True, born_anywhere=born_anywhere).text()
    function = define(text)
    converted = convert(function).function
    for sample in SAMPLES:
        assert outcome(converted, *sample) == outcome(function, *sample), text
    assert plain.built == []


@pytest.mark.parametrize("seed", range(60))
def test_symbolic_values(sym: Any, define: Any, seed: int) -> None:
    text = Writer(1000 + seed, tests_of_python=False, born_anywhere=False).text()
    function = define(text)
    converted = convert(function).function
    for sample in SAMPLES:
        built = converted(*map(sym, sample))
        assert sym(built).value == function(*sample), text


if __name__ == "__main__":
    print(Writer(int(sys.argv[1]), sys.argv[2:] == [], False).text())
