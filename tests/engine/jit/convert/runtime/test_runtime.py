"""Symbolic branches, loops and logic, with a stand-in for the engine."""

from __future__ import annotations

import re
from typing import Any

import pytest

from engine.core.errors import ConversionError
from engine.jit.convert.convert import convert


def run(function: Any, *args: Any) -> Any:
    return convert(function).function(*args)


def plain_value(value: Any) -> Any:
    """The value that symbolic ones stand for, through containers."""
    if isinstance(value, list | tuple):
        return type(value)(plain_value(item) for item in value)
    if isinstance(value, dict):
        return {key: plain_value(item) for key, item in value.items()}
    if hasattr(value, "leaves"):
        return plain_value(value.items)
    return plain_value(value.value) if hasattr(value, "value") else value


def agrees(sym: Any, function: Any, *samples: tuple[Any, ...]) -> None:
    for sample in samples:
        assert plain_value(run(function, *map(sym, sample))) == function(*sample)


def test_sides_do_not_see_each_other(sym: Any, fake: Any) -> None:
    def f(x):
        y = 1
        kind = "same"
        if x > 0:
            y = y + 10
            kind = "same"
        else:
            y = y + 100
        return y, kind

    agrees(sym, f, (1,), (-1,))
    assert run(f, sym(1))[1] == "same"
    assert fake.built == ["cond"] * 3


def test_equal_values_stay_python_values(sym: Any) -> None:
    layer = object()

    def f(x):
        if x > 0:
            a, b, c, d = 1, layer, [1, x], {"k": None}
        else:
            a, b, c, d = 1, layer, [2, x], {"k": None}
        return a, b, c, d

    x = sym(1)
    a, b, c, d = run(f, x)
    assert (a, type(a), b, d) == (1, int, layer, {"k": None})
    assert (c[0].value, c[1]) == (1, x)


def test_structures_are_joined(sym: Any) -> None:
    def f(x):
        if x > 0:
            r = {"a": [x, 1], "b": (2, x)}
        else:
            r = {"a": [x, 2], "b": (x, x)}
        return r

    agrees(sym, f, (3,), (-3,))


@pytest.mark.parametrize(
    ("one", "other", "seen"),
    [
        ("'a'", "'b'", "'a' where the condition is true, 'b' where it is false"),
        ("[x]", "[x, x]", "a list of 1 where the condition is true, a list of 2 where it is false"),
        ("x", "None", "a Tensor where the condition is true, None where it is false"),
    ],
)
def test_branches_with_incompatible_values_are_refused(
    sym: Any, define: Any, one: str, other: str, seen: str
) -> None:
    text = f"def f(x):\n    y = 0\n\n    if x > 0:\n        y = {one}\n    else:\n        y = {other}\n"
    f = define(text + "    return y")
    place = f"{f.__code__.co_filename}:4"
    with pytest.raises(ConversionError) as caught:
        run(f, sym(1))
    assert str(caught.value).startswith(f"{place}: `y` is of a different kind")
    assert seen in str(caught.value)
    g = define(text + "    return x")
    assert run(g, sym(1)).value == 1, "it is not needed afterwards"


def test_different_returns_are_named(sym: Any) -> None:
    def f(x):
        if x > 0:
            return x

    with pytest.raises(
        ConversionError, match=r"the returned value is of a different kind.*a Tensor .*true, None"
    ):
        run(f, sym(1))


def test_name_born_in_one_branch(sym: Any, fake: Any) -> None:
    def f(x):
        if x > 0:
            y = 1
        return y

    line = f.__code__.co_firstlineno + 1
    assert plain_value(run(f, sym(1))) == 1
    run(f, sym(-1))
    taken, other = [
        b for b in fake.built if b.startswith("check")
    ]  # the running Program says whether the name has a value
    assert taken.startswith("check True cannot access local variable 'y'")
    assert other.startswith("check False ")
    assert f"test_runtime.py:{line} it gets a value where the condition is true but not" in other


def test_unneeded_names_are_dropped(sym: Any) -> None:
    def f(x):
        if x > 0:
            t = [1]
            x = x + t[0]
        else:
            t = "text"
        return x

    agrees(sym, f, (1,), (-1,))


def test_early_return_in_nested_branches(sym: Any) -> None:
    def f(x, y):
        if x > 0:
            if y > 0:
                return x + y
            x = x * 2
        elif y > 5:
            return y
        z = x - y
        if z > 3:
            return z
        return -z

    agrees(sym, f, *[(x, y) for x in (-2, 1, 4) for y in (-3, 2, 6)])


def test_while(sym: Any, fake: Any) -> None:
    def f(x, n):
        i = 0
        total = 0
        while i < n and total < 50:
            step = i * 2
            total += step
            i += 1
        else:
            total += 1000
        return total, i, x

    agrees(sym, f, (1, 0), (1, 3), (1, 50))
    assert fake.built == ["while_loop"] * 3


def test_while_with_break_continue_and_return(sym: Any) -> None:
    def f(x):
        n = 0
        while True:
            n += 1
            if n % 2 == x % 2:
                continue
            x += n
            if x > 30:
                break
            if x == 13:
                return x * 1000, n
        return x, n

    agrees(sym, f, *[(x,) for x in range(-3, 15)])


def test_for_over_a_symbolic_range(sym: Any, fake: Any) -> None:
    def f(n, limit):
        total = 0
        for i in range(n):
            if i > limit:
                break
            total += i
        for j in range(n, 0, -2):
            total += j * 100
        return total

    agrees(sym, f, (0, 9), (4, 9), (7, 3))
    assert fake.built.count("while_loop") == 6


def test_for_over_a_tensor(sym: Any, fake: Any) -> None:
    def f(rows):
        total = 0
        for row in rows:
            total = total * 2 + row
        return total

    assert plain_value(run(f, sym((1, 2, 3)))) == f((1, 2, 3))
    assert fake.built == [], "unrolled, its length is known"
    assert plain_value(run(f, sym([1, 2, 3]))) == f([1, 2, 3])
    assert fake.built == ["while_loop"]


def test_symbolic_break_in_an_unrolled_loop(sym: Any) -> None:
    def f(x):
        seen = 0
        for layer in ("a", "b", "c", "d"):
            if x > 3:
                break
            x += len(layer)
            seen = seen * 10 + 1
        return x, seen

    agrees(sym, f, (0,), (1,), (2,), (9,))


def test_return_in_an_unrolled_loop(sym: Any) -> None:
    def f(x):
        for k in (1, 2, 3):
            if x < k:
                return x * k
        return x

    agrees(sym, f, (0,), (1,), (2,), (7,))


def test_variable_born_in_a_symbolic_loop(sym: Any, fake: Any) -> None:
    def f(n):
        i = 0
        while i < n:
            y = i
            i += 1
        return y

    assert run(f, sym(3)).value == 2
    message = r"check False .*:\d+: `y` gets its first value in this loop.*ran zero times; assign it before"
    run(f, sym(0))
    assert re.match(message, fake.built[-1])


def test_kind_that_changes_in_a_loop(sym: Any) -> None:
    def f(n):
        label = "a"
        while n > 0:
            n -= 1
            label = label + "b"
        return label

    with pytest.raises(
        ConversionError, match=r"`label` changes its kind.*'a' before, 'ab' after one iteration"
    ):
        run(f, sym(3))


def test_an_integer_that_becomes_a_float(sym: Any) -> None:
    def f(n):
        mean = 0
        while n > 0:
            n -= 1
            mean = mean + n / 2
        return mean

    assert run(f, sym(3)).value == 1.5


def test_python_value_of_a_short_circuit(sym: Any) -> None:
    def f(a, b):
        return a and b, a or b, not a

    for pair in ((0, "x"), ("y", []), ([], None)):
        assert run(f, *pair) == f(*pair)
    assert [part.value for part in run(f, sym(1), sym(0))] == [False, True, False]
    assert run(f, 0, sym(1))[0] == 0
    assert run(f, True, sym(5))[0].value == 5
    both, either, _ = run(f, sym(1), [])  # a value of Python decides where it can
    assert both == []
    assert either.value == 1
    both, either, _ = run(f, sym(0), "x")
    assert both.value == 0
    assert either == "x"


def test_chained_comparison(sym: Any) -> None:
    calls = []

    def middle(value):
        calls.append(value)
        return value

    def f(a, b, c):
        return 1 if a < middle(b) <= c else 0

    for sample in ((1, 2, 3), (3, 2, 3), (1, 5, 3)):
        calls.clear()
        assert run(f, *sample) == f(*sample)
        assert len(calls) == 2
    agrees(sym, f, (1, 2, 3), (3, 2, 3), (1, 5, 3))


def test_conditional_expression(sym: Any) -> None:
    def f(x):
        label = "same"
        y = x + 1 if x > 0 else (x, 2)[0]
        other = label
        return (label if x > 0 else other), y

    agrees(sym, f, (1,), (-1,))


def test_lists_and_attributes_of_two_sides(sym: Any) -> None:
    class Box:
        pass

    def f(x, box, items, table):
        if x > 0:
            items.append(x)
            box.value = x + 1
            table["k"] = 1
        else:
            items.append(-x)
            box.value = x - 1
        return items

    for value in (2, -2):
        box, items, table = Box(), [0], {"k": 0}
        box.value = 0
        run(f, sym(value), box, items, table)
        seen = plain_value((box.value, items, table))
        box, items, table = Box(), [0], {"k": 0}
        f(value, box, items, table)
        assert seen == (box.value, items, table)


def test_lists_that_differ_in_length(sym: Any) -> None:
    def f(x, first):
        items = [first]
        if x > 0:
            items.append(x)
        return items

    for value in (1, -1):
        made = run(f, sym(value), 7)
        assert plain_value(made) == f(value, 7)
    with pytest.raises(
        ConversionError, match=r"`items` changes its length.*a list of 1 before, a list of 2 after: a str is"
    ):
        run(f, sym(1), "text")


def test_list_that_grows_in_a_symbolic_loop(sym: Any) -> None:
    def f(n):
        items, others = [], [n]
        count = 0
        while n > 0:
            items.append(n)
            if n > 1:
                more = [n * 2]
                others = others + more
                others.append(count)
            n -= 1
            count += 1
        return items, others

    for n in (3, 1, 0):
        assert plain_value(run(f, sym(n))) == f(n)


def test_an_alias_of_a_list_that_grows_is_not_read_by_mistake(sym: Any) -> None:
    def f(n):
        items = [n]
        alias = items
        while n > 0:
            items.append(n)
            n -= 1
        return alias[0] + 1

    with pytest.raises(UnboundLocalError, match="its list became a tensor array under another name"):
        run(f, sym(2))


def test_containers_that_a_symbolic_loop_changes(sym: Any) -> None:
    class Box:
        pass

    def f(n):
        box, table, items = Box(), {"a": 1, "b": [n]}, [0, 5]
        box.total = 0
        while n > 0:
            box.total += n
            table["a"] *= 2
            table["b"][0] = n
            items[1] = items[0] + box.total
            n -= 1
        return box.total, table, items

    for n in (3, 0):
        assert plain_value(run(f, sym(n))) == f(n)


def test_keys_born_in_a_symbolic_loop(sym: Any) -> None:
    def f(n):
        table = {}
        while n > 0:
            table["last"] = n
            n -= 1
        return table["last"]

    assert run(f, sym(2)).value == 1


def test_global_in_a_symbolic_branch(sym: Any, define: Any) -> None:
    f = define("g = 0\ndef f(x):\n    global g\n    if x > 0:\n        g = 1")
    with pytest.raises(ConversionError, match=r":4: a global variable is assigned.*: g; return the new"):
        run(f, sym(1))


def test_casts_and_lengths(sym: Any) -> None:
    def f(x, rows):
        return int(x), float(x), bool(x), len(rows), len([1, 2]), int("7"), 0.0

    assert plain_value(run(f, sym(2.5), sym([1, 2, 3]))) == (2, 2.5, True, 3, 2, 7, 0.0)


def test_assert_and_print(sym: Any, fake: Any, capsys: pytest.CaptureFixture[str]) -> None:
    def f(x, y):
        assert x > 0, f"x is {y}"
        assert y
        print("x", 1, x, "and", y, sep="-")
        return x

    run(f, sym(2), 5)
    assert fake.built == ["check True x is 5", "show x-1 2"]
    assert run(f, 2, "y") == 2
    assert capsys.readouterr().out == "and-5\nx-1-2-and-y\n"
    for args in ((0, 5), (1, 0)):
        with pytest.raises(AssertionError) as converted:
            run(f, *args)
        with pytest.raises(AssertionError) as original:
            f(*args)
        # pytest itself adds lines to what the original says.
        assert str(converted.value) == ("x is 5" if args[0] == 0 else "")
        assert converted.traceback[-1].lineno == original.traceback[-1].lineno
