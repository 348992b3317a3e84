"""Which passes changed which lines of a converted source."""

from __future__ import annotations

from studio.session.code.code_view import ConvertedForward
from studio.session.graph import pass_changes
from studio.session.graph.pass_changes import line_passes

PASSES = (
    ("original", "def f(x):\n    for i in x:\n        y = g(i)\n    return y"),
    ("calls", "def f(x):\n    for i in x:\n        y = _jst.call(g)(i)\n    return y"),
    (
        "fors",
        "def f(x):\n    def body(i):\n        nonlocal y\n        y = _jst.call(g)(i)\n"
        "    loop(x, body)\n    return y",
    ),
)


def test_each_line_has_the_passes_that_changed_it() -> None:
    found = line_passes(PASSES)
    assert found[0] == [[], [], [], []]
    assert found[1] == [[], [], [1], []]
    assert found[2] == [[], [2], [2], [1], [2], []], "a line that is only indented further keeps its passes"


def test_the_names_of_passes_are_found_by_line() -> None:
    changes = tuple(tuple(map(tuple, lines)) for lines in line_passes(PASSES))
    forward = ConvertedForward("f", 1, 4, PASSES, changes)
    assert forward.changed_by(2, 4) == ["calls"]
    assert forward.changed_by(2, 1) == forward.changed_by(2, 99) == forward.changed_by(7, 1) == []


def test_a_line_in_place_of_others_has_their_passes_too() -> None:
    found = line_passes((("original", "a\nb"), ("one", "a\nc"), ("two", "a\nd\ne")))
    assert found[2] == [[], [1, 2], [1, 2]]


def test_long_sources_are_not_compared() -> None:
    long = "x\n" * (pass_changes.MOST_LINES + 1)
    assert line_passes((("original", long), ("calls", long + "y"))) == []
