"""What the command line prints of untrusted names: no markup, no control characters, in any locale."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable

import pytest
from rich.console import Console
from typer.testing import CliRunner

from studio.cli import app
from studio.cli.bar import TerminalBar
from studio.cli.export import model_commands
from studio.cli.output import fail, note, say, visible
from studio.cli.streams import prepare_streams
from studio.cli.train.train_command import Watcher
from tests.studio.quantized import layer, report

HOSTILE = "[bold]x[/bold] [/] [link=http://a]b[/link] \x1b[31mred\x1b]0;title\x07\r\x9b\u202e\n\udcff"
SHOWN = r"[bold]x[/bold] [/] [link=http://a]b[/link] \x1b[31mred\x1b]0;title\x07\r\x9b\u202e\n\udcff"


def described(name: str) -> dict[str, object]:
    operator = {"type": name, "inputs": [name], "outputs": [name], "shape": [-1, 10]}
    return {
        "prefix": name,
        "inputs": [],
        "outputs": [],
        "parameters": 1,
        "info": {"classes": [name]},
        "sizes": {name: 1},
        "save_id": name,
        "operators": [operator],
        "quantization": None,
    }


def test_control_characters_are_shown() -> None:
    assert visible(HOSTILE) == SHOWN
    assert visible("naïve 数字 é 🎉") == "naïve 数字 é 🎉"


@pytest.mark.parametrize("speak", [say, fail])
def test_lines_hold_no_control_characters(
    speak: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    if speak is fail:
        with pytest.raises(SystemExit):
            fail(HOSTILE)
        said = capsys.readouterr().err
    else:
        say(HOSTILE)
        said = capsys.readouterr().out
    assert r"\x1b[31mred\x1b]0;title\x07" in said
    assert "[bold]x[/bold] [/] [link=http://a]b[/link]" in said
    assert said.count("\n") == 1
    assert "\x1b" not in said


def test_inspect_takes_no_name_for_markup(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    model_commands._show(described(HOSTILE))
    said = capsys.readouterr().out
    assert said.count(SHOWN) == 5  # the prefix, the save's id, and three columns of the operator
    assert "[bold]x[/bold] [/]" in said.partition("classes")[2]
    assert not set(said) & set("\x1b\x07\x9b\u202e\udcff")


def test_the_report_of_a_quantization_takes_no_name_for_markup(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    name = HOSTILE.removesuffix("\udcff")  # a report refuses invalid text
    hostile = report(layers=[layer(name, 0.1, 0.5)], skipped=[])
    model_commands._show(described("model") | {"quantization": hostile})
    said = capsys.readouterr().out
    assert SHOWN.removesuffix(r"\udcff") in said
    assert not set(said) & set("\x1b\x07\x9b\u202e\udcff")


def test_progress_takes_no_message_for_markup(capsys: pytest.CaptureFixture[str]) -> None:
    watcher = Watcher()
    watcher.on_event({"event": "preparing", "message": HOSTILE})
    watcher.on_event({"event": "checkpoint_failed", "message": HOSTILE, "step": 1})
    said = capsys.readouterr().out
    assert r"\x1b[31mred" in "".join(said.split("\n"))
    assert "\x1b" not in said
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=300, color_system=None)
    watcher._progress.live.console = console
    console.print(watcher._progress.make_tasks_table(watcher._progress.tasks))
    assert SHOWN.partition("\\r")[0] in stream.getvalue()


def test_the_bar_takes_no_name_for_markup() -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=300, color_system=None)
    TerminalBar(1, console).update(1, [(HOSTILE, 0.5)])
    assert SHOWN.partition("\\r")[0] in stream.getvalue()


def test_an_ascii_locale_gets_escapes(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, "ascii", "strict"))
    prepare_streams()
    say("数字 é \udcff")
    model_commands._show(described("数"))
    sys.stdout.flush()
    text = written.getvalue().decode("ascii")
    assert text.startswith("\\u6570\\u5b57 \\xe9 \\udcff")
    assert text.count("\\u6570") > 3


def test_a_script_whose_name_no_file_has() -> None:
    done = CliRunner().invoke(app, ["run", "x" * 300])
    assert done.exit_code == 2
    assert "the script does not exist" in done.output


@pytest.mark.parametrize("words", [["\x1b[31m"], ["run", "\x1b[31m"], ["train", "--\x1b[31m"]])
def test_the_frame_around_wrong_usage_shows_control_characters(words: list[str]) -> None:
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2
    assert r"\x1b[31m" in done.stderr
    assert "\x1b[31m" not in done.stderr


@pytest.mark.parametrize("as_json", [False, True])
def test_a_note_stands_next_to_the_json(capsys: pytest.CaptureFixture[str], as_json: bool) -> None:
    note("", as_json)
    note("journal.jsonl: 1 damaged line was skipped", as_json)
    said = capsys.readouterr()
    assert (said.err if as_json else said.out) == "note: journal.jsonl: 1 damaged line was skipped\n"
    assert not (said.out if as_json else said.err)
