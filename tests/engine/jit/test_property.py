"""Random small programs of arithmetic, branches and loops: converted, they compute what plain Python does."""

from __future__ import annotations

import linecache
import textwrap
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import engine as paddle
from engine.jit import to_static
from tests.trials import trials

NAMES = ("a", "b", "c")
names = st.sampled_from(NAMES)
numbers = st.integers(-4, 4).map(str)
signs = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])


@st.composite
def texts(draw: Any, depth: int = 2) -> str:
    """A value as text."""
    kind = draw(st.sampled_from(["leaf", "leaf", "sum", "choice"])) if depth else "leaf"
    if kind == "leaf":
        return draw(names | numbers)
    first, second = draw(texts(depth - 1)), draw(texts(depth - 1))
    if kind == "sum":
        return f"({first} {draw(st.sampled_from('+-*'))} {second})"
    return f"({first} if {draw(truths(depth - 1))} else {second})"


@st.composite
def truths(draw: Any, depth: int = 2) -> str:
    """A condition as text."""
    kind = draw(st.sampled_from(["compare", "compare", "chain", "and", "or", "not"])) if depth else "compare"
    if kind == "compare":
        return f"{draw(names | numbers)} {draw(signs)} {draw(texts(max(0, depth - 1)))}"
    if kind == "chain":
        return f"{draw(numbers)} < {draw(names)} <= {draw(numbers)}"
    if kind == "not":
        return f"not ({draw(truths(depth - 1))})"
    return f"({draw(truths(depth - 1))} {kind} {draw(truths(depth - 1))})"


@st.composite
def blocks(draw: Any, depth: int, in_loop: bool) -> str:
    """Lines of a block; numbers stay small by `% 23`, loops end because their range is small."""
    kinds = ["assign", "assign", "update"]
    if depth:
        kinds += ["if", "for", "while", "append", "return"]
    if in_loop:
        kinds += ["break", "continue"]
    lines = []
    for kind in draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=3)):
        name = draw(names)
        if kind == "assign":
            lines.append(f"{name} = ({draw(texts())}) % 23")
        elif kind == "update":
            lines.append(f"{name} += {draw(texts())}")
            lines.append(f"{name} %= 23")
        elif kind == "if":
            lines.append(f"if {draw(truths())}:")
            lines.append(textwrap.indent(draw(blocks(depth - 1, in_loop)), "    "))
            if draw(st.booleans()):
                lines.append("else:")
                lines.append(textwrap.indent(draw(blocks(depth - 1, in_loop)), "    "))
        elif kind == "for":
            lines.append(f"for k in range(abs({draw(texts())}) % 4):")
            lines.append(f"    {name} = ({name} + k) % 23")
            lines.append(textwrap.indent(draw(blocks(depth - 1, in_loop=True)), "    "))
        elif kind == "while":
            lines.append(f"t{depth} = 0")
            lines.append(f"while t{depth} < 3 and {draw(truths())}:")
            lines.append(f"    t{depth} += 1")
            lines.append(textwrap.indent(draw(blocks(depth - 1, in_loop=True)), "    "))
        elif kind == "append":
            lines.append(f"items.append({name})")
            lines.append(f"{name} = items[-1] + items[0]")
        elif kind == "return":
            lines.append(f"if {draw(truths())}:")
            lines.append(f"    return a * 3 + {name}")
        else:
            lines.append(f"if {draw(truths())}:")
            lines.append(f"    {kind}")
    return "\n".join(lines)


def defined(body: str) -> Any:
    text = "def f(a, b, c):\n    items = [a + 1]\n" + textwrap.indent(body, "    ")
    text += "\n    return a * 7 + b * 3 + c + items[-1]\n"
    filename = f"<random program {hash(text)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"__name__": "written"}
    exec(compile(text, filename, "exec", dont_inherit=True), namespace)
    return namespace["f"]


small = st.integers(-9, 9)


@trials(30)
@given(blocks(depth=2, in_loop=False), st.lists(st.tuples(small, small, small), min_size=2, max_size=3))
def test_converted_against_plain_python(body: str, samples: list[tuple[int, int, int]]) -> None:
    function = defined(body)
    static = to_static(function)
    for sample in samples:
        given_ = [paddle.to_tensor(np.array(value, "int64")) for value in sample]
        assert int(static(*given_)) == function(*sample), body
