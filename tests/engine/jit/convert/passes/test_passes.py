"""Each pass alone: text in, text out."""

from __future__ import annotations

import ast
import textwrap

import pytest

from engine.jit.convert.convert import readable
from engine.jit.convert.passes import PASSES
from engine.jit.convert.transform import Context

RUN = dict(PASSES)


def after(name: str, text: str) -> str:
    tree = ast.parse(textwrap.dedent(text))
    return readable(RUN[name](tree, Context.of(tree)))


def expected(text: str) -> str:
    return textwrap.dedent(text).strip("\n")


CASES = [
    (
        "declarations",
        "def f():\n    if a:\n        global n\n    n = 1",
        """
        def f():
            global n
            if a:
                pass
            n = 1
        """,
    ),
    (
        "declarations",
        'def f():\n    "doc"\n    while a:\n        nonlocal n, m\n        n = 1',
        """
        def f():
            \"\"\"doc\"\"\"
            nonlocal n, m
            while a:
                n = 1
        """,
    ),
    (
        "supers",
        "def forward(this, x):\n    return super().forward(x)",
        """
        def forward(this, x):
            return super(__class__, this).forward(x)
        """,
    ),
    (
        "subscripts",
        "def f(a, i):\n    a[i] = a[i + 1] + a[0] + a[:2] + a[i, 1]\n    b = a[1] = i\n    a[2] += 1",
        """
        def f(a, i):
            _jst.put(a, i, _jst.item(a, i + 1) + a[0] + a[:2] + a[i, 1])
            b = a[1] = i
            a[2] += 1
        """,
    ),
    (
        "subscripts",
        "def f(a, i):\n    a.b[i] *= i\n    a()[i] += 1",
        """
        def f(a, i):
            element_0 = _jst.item(a.b, i)
            element_0 *= i
            _jst.put(a.b, i, element_0)
            a()[i] += 1
        """,
    ),
    ("supers", "def f():\n    return super(A, b)", "def f():\n    return super(A, b)"),
    (
        "returns",
        "def f(a):\n    if a:\n        return 1\n    b = 2\n    return b",
        """
        def f(a):
            if a:
                return_value_0 = 1
            else:
                b = 2
                return_value_0 = b
            return return_value_0
        """,
    ),
    (
        "returns",
        "def f(a):\n    if a:\n        return 1",
        """
        def f(a):
            if a:
                return_value_0 = 1
            else:
                return_value_0 = None
            return return_value_0
        """,
    ),
    (
        "returns",
        "def f(a):\n    if a:\n        if b:\n            return 1\n    return 2",
        """
        def f(a):
            if a:
                if b:
                    return_value_0 = 1
                else:
                    return_value_0 = 2
            else:
                return_value_0 = 2
            return return_value_0
        """,
    ),
    (
        "returns",
        "def f(a):\n    for x in a:\n        while x:\n            return x\n    return 2",
        """
        def f(a):
            return_value_0 = _jst.NO_VALUE
            returned_0 = False
            for x in a:
                while x:
                    return_value_0 = x
                    returned_0 = True
                    break
                if returned_0:
                    break
            if not returned_0:
                return_value_0 = 2
                returned_0 = True
            return return_value_0
        """,
    ),
    (
        "returns",
        "def f(a):\n    with a:\n        return 1",
        "def f(a):\n    with a:\n        return 1",
    ),
    (
        "returns",
        """
        def f(a):
            try:
                if a:
                    return 1
            except E:
                b
            else:
                c
            d
        """,
        """
        def f(a):
            return_value_0 = _jst.NO_VALUE
            returned_0 = False
            try:
                if a:
                    return_value_0 = 1
                    returned_0 = True
            except E:
                b
            else:
                if not returned_0:
                    c
            if not returned_0:
                d
                return_value_0 = None
                returned_0 = True
            return return_value_0
        """,
    ),
    (
        "continues",
        "def f():\n    while a:\n        if b:\n            continue\n        c",
        """
        def f():
            while a:
                if b:
                    pass
                else:
                    c
        """,
    ),
    (
        "continues",
        "def f():\n    for x in a:\n        with b:\n            continue\n        c",
        """
        def f():
            for x in a:
                continue_0 = False
                with b:
                    continue_0 = True
                if not continue_0:
                    c
        """,
    ),
    (
        "breaks",
        "def f():\n    while a:\n        if b:\n            break\n        c\n    else:\n        d",
        """
        def f():
            break_0 = False
            while not break_0 and a:
                if b:
                    break_0 = True
                else:
                    c
            if not break_0:
                d
        """,
    ),
    (
        "breaks",
        """
        def f():
            for x in a:
                for y in b:
                    break
                else:
                    continue
                c
        """,
        """
        def f():
            for x in a:
                break_0 = False
                for y in _jst.until(b, lambda: break_0):
                    break_0 = True
                if not break_0:
                    continue
                c
        """,
    ),
    (
        "breaks",
        "def f():\n    while True:\n        break",
        """
        def f():
            break_0 = False
            while not break_0:
                break_0 = True
        """,
    ),
    (
        "breaks",
        "def f():\n    for x in a:\n        b\n    else:\n        c",
        """
        def f():
            for x in a:
                b
            c
        """,
    ),
    (
        "reads",
        "def f(a):\n    if a:\n        y = 1\n    y += 1\n    return y, a",
        """
        def f(a):
            if a:
                y = 1
            _jst.read(lambda: y)
            y += 1
            return (_jst.read(lambda: y), a)
        """,
    ),
    (
        "reads",
        "def f(a):\n    if a:\n        y = 1\n    else:\n        y = 2\n    return y",
        """
        def f(a):
            if a:
                y = 1
            else:
                y = 2
            return y
        """,
    ),
    (
        "asserts",
        "def f():\n    assert a, b\n    assert c",
        """
        def f():
            assert _jst.convert_assert(a, lambda: b), b
            assert _jst.convert_assert(c)
        """,
    ),
    (
        "comparisons",
        "def f():\n    return a < b <= c, a < b",
        """
        def f():
            return (_jst.compare_chain(a, '<', lambda: b, '<=', lambda: c), a < b)
        """,
    ),
    (
        "logic",
        "def f():\n    return a and not b or (c and (d := e))",
        """
        def f():
            return _jst.value_and(a, lambda: _jst.logical_not(b)) or (c and (d := e))
        """,
    ),
    (
        "logic",
        "def f():\n    while a and (b or not c):\n        return bool(d or e)",
        """
        def f():
            while _jst.logical_and(a, lambda: _jst.logical_or(b, lambda: _jst.logical_not(c))):
                return bool(_jst.logical_or(d, lambda: e))
        """,
    ),
    (
        "handlers",
        "def f():\n    try:\n        a\n    except E as e:\n        b",
        """
        def f():
            try:
                a
            except E as e:
                _jst.own_error()
                b
        """,
    ),
    (
        "texts",
        "def f():\n    return f'{a} {b:.2f}', '%s' % c, d % e",
        """
        def f():
            return (f'{_jst.shown(a)} {_jst.shown(b):.2f}', '%s' % _jst.shown(c), d % e)
        """,
    ),
    (
        "conditionals",
        "def f():\n    return b if a else (c if d else e)",
        """
        def f():
            return _jst.convert_ifexp(a, lambda: b, lambda: _jst.convert_ifexp(d, lambda: c, lambda: e))
        """,
    ),
    (
        "calls",
        "def f(x):\n    super(A, x).g(1, *a, **b)\n    return h(k(x))",
        """
        def f(x):
            _jst.call(super(A, x).g)(1, *a, **b)
            return _jst.call(h)(_jst.call(k)(x))
        """,
    ),
    (
        "ifs",
        """
        def f(x):
            t = 1
            if x:
                t = 2
                y = t
            else:
                y = 3
            return y
        """,
        """
        def f(x):
            t = 1

            def true_fn_0():
                nonlocal t, y
                t = 2
                y = t

            def false_fn_0():
                nonlocal y
                y = 3

            _jst.convert_ifelse(x, true_fn_0, false_fn_0, state=lambda: (t, y), live=lambda: (y,))
            return y
        """,
    ),
    (
        "ifs",
        "def f(x):\n    global g\n    if x:\n        g = 2",
        """
        def f(x):
            global g

            def true_fn_0():
                global g
                g = 2

            _jst.convert_ifelse(x, true_fn_0, None, state=lambda: (g,))
        """,
    ),
    (
        "whiles",
        "def f(n):\n    i = 0\n    while i < n:\n        t = i + 1\n        i = t\n    return i",
        """
        def f(n):
            i = 0

            def while_test_0():
                return i < n

            def while_body_0():
                nonlocal t, i
                t = i + 1
                i = t

            _jst.convert_while_loop(while_test_0, while_body_0, state=lambda: (t, i), live=lambda: (i,))
            return i
        """,
    ),
    (
        "fors",
        "def f(a):\n    s = 0\n    for i, (x, y) in a:\n        s += x\n    return s",
        """
        def f(a):
            s = 0

            def for_body_0(item_0):
                nonlocal i, part_0, x, y, s
                i, part_0 = _jst.unpacked(item_0, 2)
                x, y = _jst.unpacked(part_0, 2)
                s += x

            _jst.convert_for(a, for_body_0, state=lambda: (i, x, y, s), live=lambda: (s,))
            return s
        """,
    ),
]


@pytest.mark.parametrize(("name", "before", "wanted"), CASES)
def test_text_in_text_out(name: str, before: str, wanted: str) -> None:
    assert after(name, before) == expected(wanted)


def test_names_born_in_helpers_are_declared() -> None:
    text = """
        def f(x):
            if x:
                y = 1
                def g():
                    z = 2
                    return z
            return y
    """
    tree = ast.parse(expected(text))
    context = Context.of(tree)
    tree = RUN["local_names"](RUN["ifs"](tree, context), context)
    assert readable(tree).splitlines()[:3] == ["def f(x):", "    g: _jst.Undefined", "    y: _jst.Undefined"]


@pytest.mark.parametrize("name", [name for name, _ in PASSES])
def test_generators_coroutines_and_classes_are_left(name: str) -> None:
    text = expected("""
        class A:
            b = c(1) if d and e else f

            def g(self):
                if a:
                    return super().g()

        def h():
            if a and b:
                yield c(d)
    """)
    shown = after(name, "def outer():\n" + textwrap.indent(text, "    "))
    assert shown == readable(ast.parse("def outer():\n" + textwrap.indent(text, "    ")))


def test_generated_names_avoid_the_users() -> None:
    shown = after("returns", "def f(return_value_0):\n    if return_value_0:\n        return 1\n    return 2")
    assert "return return_value_1" in shown


def test_every_generated_node_has_the_line_of_its_construct() -> None:
    text = "def f(x):\n\n    if x:\n        y = 1\n\n    else:\n        y = 2\n    return y"
    tree = ast.parse(text)
    RUN["ifs"](tree, Context.of(tree))
    call = next(node for node in ast.walk(tree) if isinstance(node, ast.Expr))
    assert call.lineno == 3
    assert [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Assign)] == [4, 7]
