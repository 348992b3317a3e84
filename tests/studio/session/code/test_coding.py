"""The file of the page Code: opened, saved, drafted, changed outside, and only tried where that is agreed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from resources.local_code import MAX_BYTES, LocalCode, read_code
from studio.session.code.code_view import CHANGED, GONE
from studio.session.code.drafts import draft_path
from studio.session.code.edited_file import CodeError
from studio.session.code.inputs import parse_inputs
from studio.session.code.model_editor import ModelEditor
from studio.session.code.syntax import syntax_problem
from studio.session.code.user_models import trouble_in
from studio.session.session import Session

TEXT = "from engine import nn\nclass Part(nn.Layer): pass\nclass Net(nn.Layer):\n    pass\n"
MORE = TEXT + "# more\n"
CHECKED: dict[str, Any] = {
    "problems": [],
    "lines": {4: {"shapes": [[-1, 2]], "parameters": 3, "operations": 5, "counted": True}},
    "layers": [],
    "functions": [],
    "program": {},
    "output": [-1, 2],
    "parameters": 3,
    "operations": 5,
    "all_counted": True,
}


def saved(bench: Bench) -> bool:
    """Save, and whether it was written."""
    written: list[bool] = []
    bench.model_editor.save(written.append)
    return written[0]


def why_not_measured(bench: Bench) -> str:
    """Measure, and what is wrong."""
    reasons: list[str] = []
    bench.model_editor.trials.measure(reasons.append)
    return "".join(reasons)


class Bench:
    """A session over fake workers, and what its coding did."""

    def __init__(self, folder: Path, worker: Any) -> None:
        self.workers: list[Any] = []
        self._kind = worker
        self.session = Session(self._make, folder / "runs")
        self.problems: list[Any] = []
        self.replaced: list[tuple[str, bool]] = []
        self.session.problem.connect(self.problems.append)
        self.view.text_replaced.connect(lambda text, undoable: self.replaced.append((text, undoable)))

    def _make(self, notify: Any) -> Any:
        self.workers.append(self._kind(notify))
        return self.workers[-1]

    @property
    def model_editor(self) -> ModelEditor:
        return self.session.model_editor

    @property
    def view(self) -> Any:
        return self.session.model_editor.view

    def tell(self, event: str, **values: Any) -> None:
        next(worker for worker in self.workers if worker.job and not worker.closed).tell(
            {"event": event, **values}
        )
        self.session.pump()

    def end(self) -> None:
        self.tell("worker_ended", clean=True, killed=False, exit_code=0, message="", details="")

    def jobs(self) -> list[str]:
        return [worker.job.text for worker in self.workers if worker.job]


@pytest.fixture
def bench(tmp_path: Path, make_fake_worker: Any) -> Any:
    made = Bench(tmp_path, make_fake_worker)
    yield made
    made.session.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(TEXT)
    return path


def test_only_agreed_code_is_tried(bench: Bench, file: Path) -> None:
    bench.model_editor.open(file)
    assert bench.view.classes == ("Net", "Part")
    assert (bench.view.class_name, bench.view.state) == ("Net", "refused")
    bench.model_editor.edit("def f(:\n")
    assert [(each.stage, each.line) for each in bench.view.problems] == [("syntax", 1)]
    bench.model_editor.edit(MORE)
    assert (bench.view.state, bench.jobs()) == ("refused", [])
    bench.model_editor.discard()
    bench.model_editor.read_code(bench.model_editor.agree, bench.problems.append)
    assert bench.view.state == "checking"
    # What is typed into a text that was agreed to is the user's own; so is what is saved of it.
    bench.model_editor.edit(MORE)
    bench.end()
    assert bench.jobs() == [TEXT, MORE]
    assert saved(bench)
    assert bench.session.needs_agreement_of("") is None
    bench.session.change_setting("model", f"{file}:Net")
    assert bench.session.needs_agreement() is None


def test_a_changed_helper_stops_the_dry_run_and_is_named(bench: Bench, file: Path) -> None:
    helper = file.with_name("helper.py")
    helper.write_text("X = 1\n")
    file.write_text("import helper\n" + TEXT)
    bench.session.agree(read_code(file))
    bench.model_editor.open(file)
    bench.end()
    helper.write_text("X = 2\n")
    bench.model_editor.edit(MORE + "import helper\n")
    assert (bench.view.state, len(bench.jobs())) == ("refused", 1)
    assert "helper.py" in bench.view.unagreed
    assert why_not_measured(bench) == "Agree first that this file is run."
    assert saved(bench)  # the text is the user's, but what it imports is not
    bench.session.change_setting("model", f"{file}:Net")
    code = bench.session.needs_agreement()
    assert code is not None
    assert "helper.py" in bench.session.new_files(code)
    bench.model_editor.edit(MORE)
    assert bench.view.state == "checking"
    bench.end()
    bench.model_editor.edit(MORE + "import helper\n")
    codes: list[LocalCode] = []
    bench.model_editor.read_code(codes.append, bench.problems.append)
    (code,) = codes
    assert bench.model_editor.new_files(code)[-1] == "helper.py"
    bench.model_editor.agree(code)
    assert bench.view.state == "checking"
    bench.end()
    helper.unlink()
    bench.model_editor.open(file)
    assert bench.view.state == "refused"


def test_only_the_newest_text_follows_and_results_of_older_ones_are_not_shown(
    bench: Bench, file: Path
) -> None:
    bench.session.agree(read_code(file))
    bench.model_editor.open(file)
    bench.model_editor.edit(TEXT + "#1\n")
    bench.model_editor.edit(MORE)
    bench.tell("code_checked", **CHECKED)
    assert bench.view.notes == {}
    bench.end()
    assert bench.jobs() == [TEXT, MORE]
    bench.tell("code_checked", **CHECKED)
    assert bench.view.notes[4].parameters == 3
    assert bench.view.state == "done"
    bench.end()
    bench.model_editor.edit(TEXT)
    assert bench.view.stale


def test_a_dry_run_that_dies_or_hangs_is_reported(bench: Bench, file: Path) -> None:
    bench.session.agree(read_code(file))
    bench.model_editor.open(file)
    bench.tell("code_stuck", line=3)
    assert (bench.view.problems[0].line, bench.view.state) == (3, "stuck")
    assert bench.workers[0].killed
    bench.model_editor.edit(MORE)
    bench.session.pump()
    bench.tell("worker_ended", clean=False, killed=False, exit_code=-11, message="crashed", details="")
    assert bench.view.problems[0].what == "the process of the dry run has died: exit code -11"
    bench.model_editor.edit(TEXT)
    bench.session.tasks._tasks[-1].cancel()
    bench.session.pump()
    assert (bench.view.problems[0].what, bench.view.state) == ("the dry run was cancelled", "stuck")


def test_unsaved_text_comes_back(bench: Bench, file: Path, tmp_path: Path, make_fake_worker: Any) -> None:
    bench.model_editor.open(file)
    bench.model_editor.edit(MORE)
    assert draft_path(file).read_text() == MORE
    again = Bench(tmp_path, make_fake_worker)
    again.model_editor.open(file)
    assert again.replaced == [(MORE, False)]
    assert again.view.restored
    assert again.view.modified
    again.model_editor.discard()
    assert again.replaced[-1] == (TEXT, True)
    assert not draft_path(file).exists()
    again.session.close()


def test_saving_keeps_line_ends_and_is_refused_where_the_file_changed(bench: Bench, file: Path) -> None:
    file.write_bytes(TEXT.replace("\n", "\r\n").encode())
    bench.model_editor.open(file)
    bench.model_editor.edit(MORE)
    assert saved(bench)
    assert file.read_bytes() == MORE.replace("\n", "\r\n").encode()
    assert not bench.view.modified
    bench.model_editor.edit(TEXT)
    file.write_text("theirs = 1\n")
    assert not saved(bench)
    assert bench.view.outside == CHANGED
    assert file.read_text() == "theirs = 1\n"
    bench.model_editor.keep_mine()
    assert saved(bench)
    assert file.read_bytes() == TEXT.replace("\n", "\r\n").encode()


def test_changes_outside_are_noticed(bench: Bench, file: Path) -> None:
    bench.session.agree(read_code(file))
    bench.model_editor.open(file)
    file.write_text(MORE)
    bench.model_editor.look()
    assert bench.replaced[-1] == (MORE, True)
    assert not bench.view.modified
    assert bench.view.state == "refused"  # a foreign text: it asks again
    bench.model_editor.edit(TEXT)
    file.write_text("theirs = 1\n")
    bench.model_editor.look()
    assert bench.view.outside == CHANGED
    assert bench.model_editor.text == TEXT
    bench.model_editor.take_theirs()
    assert (bench.replaced[-1], bench.view.outside) == (("theirs = 1\n", True), "")
    file.unlink()
    bench.model_editor.look()
    assert bench.view.outside == GONE
    assert saved(bench)
    assert file.read_text() == "theirs = 1\n"


def test_a_new_file_becomes_the_model(bench: Bench, tmp_path: Path) -> None:
    bench.model_editor.new("resnet8", tmp_path / "own")
    assert bench.session.train.settings.model == f"{tmp_path / 'own.py'}:ResNet"
    assert bench.view.state == "checking"
    assert bench.session.needs_agreement() is None
    bench.model_editor.choose_class("Block")
    bench.model_editor.use()
    assert bench.session.train.settings.model.endswith(":Block")


def test_a_file_that_cannot_be_edited_is_refused_and_the_open_file_stays(bench: Bench, file: Path) -> None:
    bench.model_editor.open(file)
    other = file.with_name("other.py")
    other.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CodeError, match="no text in UTF-8"):
        bench.model_editor.open(other)
    with pytest.raises(CodeError, match="can't be read"):
        bench.model_editor.open(file.with_name("absent.py"))
    assert bench.view.file == str(file)
    assert saved(bench)
    assert file.read_text() == TEXT


def test_a_text_beyond_the_limit_is_reported_and_not_parsed(
    bench: Bench, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.model_editor.open(file)
    monkeypatch.setattr("studio.session.code.user_models.MOST_EDITED", 100)
    bench.model_editor.edit("#" * 99 + "é")
    (problem,) = bench.view.problems
    assert problem.message.startswith("the text has 101 bytes, at most 100 are edited here")
    bench.model_editor.edit("#" * 98 + "é")
    assert bench.view.problems == ()
    monkeypatch.undo()
    for text, found in (
        ("#" * 5001, "a line has 5,001 characters, at most 5,000 are edited here"),
        ("\n" * 15_000, "the text has 15,001 lines, at most 15,000 are edited here"),
        ("#" + "a\t" * 200, "a line has 400 tabs and changes of script, at most 300 are edited here"),
        ("#" + "a\u0627" * 200, "a line has 400 tabs and changes of script"),
    ):
        bench.model_editor.edit(text)
        (problem,) = bench.view.problems
        assert problem.message.startswith(found)


def test_a_text_of_many_classes_is_checked_quickly() -> None:
    """Compiling it takes time with the square of their number: 157 s at 512 KB."""
    began = time.process_time()
    assert syntax_problem("class A:0\n" * 6000, "net.py") is None
    assert syntax_problem("class A:0\n" * 6000 + "(", "net.py") is not None
    assert time.process_time() - began < 1.0


def test_a_file_beyond_the_limit_is_refused_with_its_size(bench: Bench, file: Path) -> None:
    file.write_bytes(b"#" * (MAX_BYTES + 1))
    assert "at most 524,288 are read" in trouble_in(file)
    with pytest.raises(CodeError, match="the file has 524,289 bytes, at most 524,288 are read"):
        bench.model_editor.open(file)
    file.write_bytes(b"#\n" * (MAX_BYTES // 2))
    with pytest.raises(CodeError, match="the text has 524,288 bytes, at most 262,144 are edited here"):
        bench.model_editor.open(file)


def test_inputs_are_read_as_typed(bench: Bench, file: Path) -> None:
    assert parse_inputs("[N, 1, 28, 28]; n,10 int64;?x3x4 float64") == [
        ((None, 1, 28, 28), "float32"),
        ((None, 10), "int64"),
        ((None, 3, 4), "float64"),
    ]
    assert parse_inputs("N,1 int32;2,3") == [((None, 1), "int32"), ((2, 3), "float32")]
    assert parse_inputs(" ") == []
    for wrong in ("N, 0", "N, one", "N, 3 float31", "N, 999999, 999999", ";N int"):
        with pytest.raises(ValueError, match=r"write|take|no shape"):
            parse_inputs(wrong)
    bench.session.agree(read_code(file))
    bench.model_editor.open(file)
    bench.model_editor.choose_inputs("N, 0")
    assert "not a size: 0" in bench.view.input_problem
    bench.model_editor.choose_inputs("N, 4")
    bench.end()
    assert bench.workers[-1].job.inputs == (((None, 4), "float32"),) or bench.workers[-2].job.inputs == (
        ((None, 4), "float32"),
    )
