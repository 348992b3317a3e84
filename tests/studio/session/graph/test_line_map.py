"""Lines of a converted function, found again in the user's file; and classes found without running a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.session.code.user_models import classes_in
from studio.session.graph.line_map import line_map

SOURCE = """import engine


class Net(engine.nn.Layer):
    def other(self, x):
        return x

    def forward(self, x):
        x = self.conv(x)
        if x.sum() > 0:
            x = x + 1
        return engine.flatten(x, 1)
"""
CONVERTED = """def forward(self, x):
    x = _jst.call(self.conv)(x)

    def true_fn():
        nonlocal x
        x = x + 1
    _jst.cond(_jst.call(x.sum)() > 0, true_fn, None)
    return _jst.call(engine.flatten)(x, 1)
"""


def test_statements_are_matched_without_the_calls_of_the_conversion() -> None:
    assert line_map(SOURCE, 8, CONVERTED) == {9: [2], 11: [6], 12: [8]}


@pytest.mark.parametrize(
    ("source", "line", "converted"),
    [("def f(:", 1, "x"), (SOURCE, 8, "def f(:"), (SOURCE, 3, CONVERTED), ("", 1, "")],
    ids=["broken source", "broken conversion", "no function there", "nothing"],
)
def test_lines_without_a_match_are_omitted(source: str, line: int, converted: str) -> None:
    assert line_map(source, line, converted) == {}


def test_classes_are_found_without_running_the_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("raise SystemExit\nclass A: pass\nclass B(nn.Layer): pass\nclass C(Layer): pass\n")
    assert classes_in(file) == ("B", "C", "A")


@pytest.mark.parametrize("data", [b"class A(:", b"\xff\x00", None])
def test_a_file_that_is_no_python_has_no_classes(tmp_path: Path, data: bytes | None) -> None:
    file = tmp_path / "mine.py"
    if data is not None:
        file.write_bytes(data)
    assert classes_in(file) == ()
