"""SECURITY.md: its limits are those of the code; the files, options and habits of the key are there."""

from __future__ import annotations

import importlib
import os
import re
import stat
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from engine.core.models.limits import ENVIRONMENT
from engine.files.native import installation, userblock
from engine.files.run_source import MARK_NAME, SOURCE
from resources.locks import LOCK_NAME
from studio.cli import app
from studio.session.project.project_file import SUFFIX

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
LIMITS = re.findall(r"^\| .+ \| (\d+) \| `([\w.]+):([\w.()]+)` \|$", TEXT, re.MULTILINE)


def value_of(module: str, expression: str) -> Any:
    """A constant, or a field of what ``NAME.method(0)`` gives."""
    found: Any = importlib.import_module(module)
    for part in expression.split("."):
        name, call, _ = part.partition("(")
        found = getattr(found, name)
        if call:
            found = found(0)
    return found


@pytest.mark.parametrize(("value", "module", "name"), LIMITS, ids=lambda text: str(text))
def test_a_limit_is_that_of_the_code(value: str, module: str, name: str) -> None:
    assert value_of(module, name) == int(value)


def test_every_row_of_the_limits_is_looked_at() -> None:
    table = TEXT.partition("## Limits")[2].partition("\n## ")[0]
    assert len(LIMITS) == table.count("\n| ") - 1 > 10


def test_named_files_options_and_variables_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (MARK_NAME, SOURCE, LOCK_NAME, SUFFIX, installation.key_path().name):
        assert name in TEXT
    assert f"`{ENVIRONMENT}`" in TEXT
    monkeypatch.setenv("COLUMNS", "200")
    for command, option in (
        ("train", "--max-size"),
        ("train", "--keep"),
        ("train", "--trust"),
        ("export", "--trust"),
    ):
        assert option in TEXT
        assert f"{option} " in CliRunner().invoke(app, [command, "--help"]).stdout


@pytest.mark.skipif(os.name == "nt", reason="rights of files are POSIX")
def test_the_key_is_as_it_says() -> None:
    key = installation.installation_key()
    path = installation.key_path()
    assert key is not None
    assert len(key) == 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    payload = b"content"
    signed = userblock.parse_user_block(
        bytes(userblock.make_user_block(payload, userblock.NO_SAVE_ID, key)), 512 + len(payload), path
    )
    assert signed.is_signed_with(key)
    assert key not in bytes(userblock.make_user_block(payload, userblock.NO_SAVE_ID, key))
    # One that others can read is not used; after it was deleted there is another, and files count as
    # untrusted.
    path.chmod(0o640)
    assert installation.installation_key() is None
    path.unlink()
    other = installation.installation_key()
    assert other is not None
    assert other != key
    assert not signed.is_signed_with(other)
    assert not signed.is_signed_with(None)


def test_the_readme_leads_to_it() -> None:
    assert "(SECURITY.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
