"""No function of the engine has so many branches that it can't be read."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.arch.complexity import complexity, functions_of

MOST = 30
# Functions that may have more, and why.
BRANCHED = {
    ("engine/autodiff/tape.py", "Walk._walk"): "each call for an operator or an edge slows small backwards",
}


def test_functions_are_not_too_branched(repo_root: Path) -> None:
    found = {(each.path, each.name) for each in functions_of(repo_root, "engine") if each.complexity > MOST}
    assert found == BRANCHED.keys(), "split them, or delete the row of one that is split"


def test_branches_are_counted() -> None:
    source = """
    def function(values, flag):
        for value in values:
            if value and flag or not values:
                break
        else:
            return [v if v else 0 for v in values if v > 0]
        try:
            return sorted(values, key=lambda v: -v)
        except TypeError:
            def inner():
                return 1 if flag else 2
            return inner
    """
    (function,) = ast.parse("if True:\n" + source).body[0].body  # type: ignore[attr-defined]
    # loop 2, if with two operands more 3, comprehension 2, conditional 1, lambda 1, handler 1, itself 1
    assert complexity(function) == 11
