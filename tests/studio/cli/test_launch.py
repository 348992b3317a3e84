"""``model-studio launch``: its help has the options of the launcher, which gets the words as they are."""

from __future__ import annotations

from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from engine.distributed.launch import command
from resources.launch_options import OPTIONS
from studio.cli import app


def test_the_help_has_every_option() -> None:
    shown = typer.main.get_command(app).commands["launch"].params
    outcome = {name: parameter.help for parameter in shown for name in parameter.opts}
    for option in OPTIONS:
        for name in option.names:
            assert outcome[name] == (f"No effect: {option.unused}." if option.unused else option.help)
    done = CliRunner().invoke(app, ["launch", "--help"])
    assert (done.exit_code, "--nproc_per_node" in done.stdout) == (0, True)


def test_words_reach_the_launcher_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[Any] = []

    def launch(options: Any) -> int:
        taken.append((options.script, options.arguments, options.use_paddlecloud, options.module))
        return 7

    monkeypatch.setattr(command, "launch", launch)
    words = ["launch", "--use_paddlecloud", "-m", "package.train", "--devices", "1", "-m", "--", "-h", "*"]
    assert CliRunner().invoke(app, words).exit_code == 7
    assert taken == [("package.train", ["--devices", "1", "-m", "--", "-h", "*"], True, True)]


def test_wrong_usage_stands_in_a_frame_as_for_other_commands() -> None:
    for words, said in (
        (["--nprocs", "2", "a.py"], "there is no option --nprocs"),
        ([], "script is missing"),
    ):
        done = CliRunner().invoke(app, ["launch", *words])
        assert (done.exit_code, done.stderr.startswith("Usage: ")) == (2, True)
        assert said in " ".join(done.stderr.replace("│", " ").split())
