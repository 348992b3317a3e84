"""The table of exit codes and lines in docs/guide/exit-codes.md: each row is carried out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from engine.files.native import installation
from studio.cli import app
from tests.docs.exit_codes import (  # noqa: F401  (their cases)
    comparing,
    debugging,
    drawing,
    explaining,
    models,
    sweeping,
    training,
    using,
)
from tests.docs.exit_codes.place import CASES, Place, Row, rows
from tests.studio.cli.forked import Victim
from tests.studio.conftest import bars  # noqa: F401  (the fixture)


@pytest.fixture(scope="module")
def made(bars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:  # noqa: F811
    """A finished run and what was exported from it, by one installation for the whole module."""
    home = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(installation, "key_path", lambda: home / "installation.key")
        words = ["--data", bars, "--model", "linear", "--epochs", "2", "--lr", "0.01", "--out", home / "run"]
        for call in (["train", *words], ["export", home / "run", "--out", home / "saved" / "bars"]):
            done = CliRunner().invoke(app, [str(word) for word in call])
            assert done.exit_code == 0, done.output
        yield home / "run", home / "saved" / "bars"


def test_each_row_has_a_case_and_each_case_a_row() -> None:
    assert sorted((row.command, row.case) for row in rows()) == sorted(CASES)


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row.command}: {row.case}"[:60])
def test_the_row_is_true(
    row: Row,
    made: tuple[Path, Path],
    bars: Path,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = Place(tmp_path, bars, monkeypatch, *made)
    words = CASES[row.command, row.case](place)
    if row.command == "run" and row.code != 2:
        if not hasattr(os, "fork"):
            pytest.skip("a script takes its process over; each gets a forked one")
        victim = Victim(tmp_path, words)
        code, said = victim.ended(), victim.stderr.read_text()
    else:
        with place.around:
            done = CliRunner().invoke(app, [str(word) for word in words])
        code, said = done.exit_code, done.stderr
    assert (code, row.says(said)) == (row.code, True), said
    assert "\x1b" not in said
    if code == 1 and row.command != "run":
        assert said.count("\n") == (1 if row.line else 0)
        assert "Traceback" not in said
