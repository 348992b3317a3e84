"""The help of the command line has the language of the preferences or of the computer; errors are English."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

from resources import words
from resources.settings import RUN_SETTINGS
from resources.words.catalogue import Catalogue, read_catalogue
from resources.words.po_file import Entry
from studio.cli import app, help_language
from studio.cli.help_language import choose_language, translate_help
from studio.session.project.project_file import preferences_path

TEXTS = Catalogue(
    [
        Entry("Train a model.", ["训练模型。"]),
        Entry("Continue the run in --out.", ["继续 --out 中的训练。"]),
        Entry("Show this message and exit.", ["显示帮助并退出。"]),
        Entry("Name, tag, note or hide a run; its folder keeps its name.", ["命名。"]),
    ]
)


def test_helps_of_commands_and_options_are_translated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(help_language, "_OF_TYPER", {})
    monkeypatch.setattr(help_language, "_MAKE_TEXT", "absent")
    words.use_catalogue("zh_CN", TEXTS)
    group = typer.main.get_command(app)
    translate_help(group)
    train = group.commands["train"]  # type: ignore[attr-defined]
    assert train.help == "训练模型。"
    assert {each.name: each.help for each in train.params}["resume"] == "继续 --out 中的训练。"
    assert group.commands["runs"].commands["describe"].help == "命名。"  # type: ignore[attr-defined]
    assert train.get_help_option(typer.Context(train)).help == "显示帮助并退出。"
    assert {each.name: each.help for each in train.params}["out"].startswith("The run's folder")


def test_english_changes_nothing() -> None:
    group = typer.main.get_command(app)
    before = vars(group).copy()
    translate_help(group)
    assert vars(group) == before


def test_the_language_is_that_of_the_preferences_or_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    monkeypatch.delenv("LANGUAGE")
    choose_language(["train"])
    assert words.language() == "en"
    choose_language(["train", "--help"])
    assert words.language() == "zh_CN"
    path = preferences_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    for wanted, found in (("en", "en"), ("zh_CN", "zh_CN"), ("system", "zh_CN"), (3, "zh_CN"), ("tlh", "en")):
        path.write_text(json.dumps({"language": wanted}))
        choose_language(["-h"])
        assert words.language() == found, wanted
    path.write_text("[")
    choose_language(["-h"])
    assert words.language() == "zh_CN"


def _chinese(text: str) -> str:
    return "".join(re.findall("[\u4e00-\u9fff]", text))


def _printed(*arguments: str, home: Path) -> str:
    environment = {**os.environ, "LC_ALL": "zh_CN.UTF-8", "COLUMNS": "60", "TERM": "dumb", "HOME": str(home)}
    environment.pop("LANGUAGE")
    done = subprocess.run(
        [sys.executable, "-m", "studio", *arguments],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    return done.stdout + done.stderr


def test_the_help_of_a_command_is_whole_and_its_errors_are_english(tmp_path: Path) -> None:
    text = _printed("train", "--help", home=tmp_path)
    # A line of Chinese has no spaces at which it could be broken.
    whole = read_catalogue("zh_CN").find(RUN_SETTINGS["epochs"].help)
    assert _chinese(whole) in _chinese(text)
    assert text.split("\n")[1].strip() == "用法：model-studio train [选项]"
    assert "用法：model-studio runs [选项] 命令 [参数]..." in _printed("runs", "--help", home=tmp_path)
    for typed in (["--absent"], ["--absent", "--help"]):
        wrong = _printed("train", *typed, home=tmp_path)
        assert "No such option" in wrong
        assert "Usage: model-studio train [OPTIONS]" in wrong
