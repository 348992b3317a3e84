"""An error that users see: its parts, the user's line, and a traceback with the framework's frames folded."""

from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import pytest

from engine.core.errors import ShapeError
from engine.core.values.spec import Spec
from engine.training.problem import describe_problem, split_message


@pytest.mark.parametrize(
    ("message", "parts"),
    [
        (
            "linear: shapes differ: 3 and 4; make them equal",
            ("linear", "shapes differ: 3 and 4", "make them equal"),
        ),
        ("a: b; c; d", ("a", "b; c", "d")),
        ("just words", ("", "just words", "")),
        ("where: what", ("where", "what", "")),
        ("", ("", "", "")),
    ],
)
def test_a_message_in_its_parts(message: str, parts: tuple[str, str, str]) -> None:
    assert split_message(message) == parts


def fail_in(path: Path, text: str) -> BaseException:
    path.write_text(text)
    space: dict[str, object] = {"Spec": Spec, "ShapeError": ShapeError}
    exec(compile(text, str(path), "exec"), space)
    try:
        space["run"]()  # type: ignore[operator]
    except Exception as error:
        return error
    raise AssertionError("it did not fail")


def test_the_users_line_is_the_innermost_one_of_his_files(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    error = fail_in(
        path,
        "def layer():\n"
        "    raise ShapeError('net: shapes differ: 3; make them equal')\n"
        "def run():\n"
        "    layer()\n",
    )
    problem = describe_problem(error, [str(path)])
    assert (problem.file, problem.line, problem.error) == (str(path), 2, "ShapeError")
    assert (problem.where, problem.do) == ("net", "make them equal")


def test_framework_frames_are_folded_and_the_users_marked(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    error = fail_in(path, "import json\ndef run():\n    json.loads('{')\n")
    problem = describe_problem(error, [str(path)])
    assert problem.line == 3
    assert problem.where == "net.py:3"
    lines = problem.traceback.splitlines()
    assert f'> File "{path}", line 3, in run' in lines
    assert sum("of the framework" in line for line in lines) == 2
    assert not any("json/decoder.py" in line for line in lines)
    assert lines[-1].startswith("json.decoder.JSONDecodeError")


def test_a_syntax_error_names_its_place(tmp_path: Path) -> None:
    try:
        compile("def f(:\n", str(tmp_path / "net.py"), "exec")
    except SyntaxError as error:
        problem = describe_problem(error, [str(tmp_path / "net.py")])
    assert (problem.file, problem.line) == (str(tmp_path / "net.py"), 1)


def test_memory_that_ran_out_says_what_to_do() -> None:
    problem = describe_problem(MemoryError())
    assert problem.do == "take a smaller batch size or a smaller model"


def test_an_array_that_memory_does_not_hold_has_a_remedy() -> None:
    with pytest.raises(MemoryError) as caught:
        np.empty((2**40, 2**20), "int8")
    problem = describe_problem(caught.value)
    assert problem.what.startswith("not enough for this step: Unable to allocate 1.00 EiB")
    assert (problem.where, problem.do) == ("memory", "take a smaller batch size or a smaller model")


def test_too_many_open_files_name_the_file_and_the_limit() -> None:
    problem = describe_problem(OSError(errno.EMFILE, "Too many open files", "a.txt"))
    assert (problem.where, problem.what) == ("files", "too many are open: opening a.txt")
    assert "ulimit -n" in problem.do
    assert describe_problem(OSError(errno.ENFILE, "Too many")).what == "too many are open"
