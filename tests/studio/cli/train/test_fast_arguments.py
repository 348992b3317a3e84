"""Plain words of ``train`` mean what they mean to typer; all others are left to it."""

from __future__ import annotations

from typing import Any

import pytest
import typer

from resources.settings import RUN_SETTINGS
from studio import cli
from studio.cli.train.fast_arguments import OWN, read_words

PLAIN = (
    "",
    "--out x --epochs 2 --batch-size=32 --lr 3e-4 --seed 7",
    "--model lenet --eager --optimizer adam --optimizer-param beta1=0.8 --optimizer-param beta2=0.9",
    "--static --json --stop-after 3 --resume --out runs/a --trust --data=a=b",
    "--recompute --kernels fast --threads 2 --device cpu --clip-norm 1.50",
)
NOT_PLAIN = (
    "-h",
    "--help",
    "--epoch 2",
    "--epochs",
    "--epochs two",
    "--epochs 1_0",
    "--epochs 1 --epochs 2",
    "--lr 1.",
    "--lr nan",
    "--lr .5",
    "--out --json",
    "--json=1",
    "--stop-after -1",
    "word",
    "--",
    "--seed 0x10",
    "--lr= 1",
)
NO_TRAINING = ("--resume", "--optimizer adam --optimizer-param momentum=0.5", "--epochs 0")


def _meant(words: list[str], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What typer hands to ``carry_out``."""
    heard: list[tuple[Any, ...]] = []
    command = typer.main.get_command(cli.app)
    monkeypatch.setattr("studio.cli.train.train_options.carry_out", lambda *values: heard.append(values))
    command(["train", *words], standalone_mode=False)
    names = ("settings", "given", "out", "resume", "stop_after", "trust", "as_json")
    return dict(zip(names, heard[0], strict=True))


def test_plain_words_mean_what_typer_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    for line in PLAIN:
        read = read_words(line.split())
        assert read == _meant(line.split(), monkeypatch), line
        floats = [name for name, setting in RUN_SETTINGS.items() if setting.kind == "float"]
        assert {type(read["settings"][name]) for name in floats} == {float}, line


def test_all_others_are_left_to_typer() -> None:
    for line in NOT_PLAIN:
        assert read_words(line.split()) is None, line


def test_the_options_that_are_no_settings_are_typers() -> None:
    command: Any = typer.main.get_command(cli.app)
    parameters = command.commands["train"].params
    found = {(p.opts[0], p.name, p.default) for p in parameters if p.name not in (*RUN_SETTINGS, "help")}
    assert found == {(flag, name, default) for flag, name, _, default in OWN}


def test_words_that_make_no_training_are_reported_by_typer(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for words in (
        ["--resume"],
        ["--optimizer", "adam", "--optimizer-param", "momentum=0.5"],
        ["--epochs", "0"],
    ):
        assert read_words(words) is not None
        monkeypatch.setattr("sys.argv", ["model-studio", "train", *words])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert ended.value.code == 2
        said = capsys.readouterr().err
        assert "Usage: model-studio train" in said, said
        assert "Error" in said
