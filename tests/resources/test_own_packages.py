"""The names of our packages are claimed, and a script's own modules of these names are reported."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import resources
from resources.own_packages import NAMES, claim_names, taken_names


def test_packages_are_imported_from_where_they_are_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("studio", "widgets"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('of the current folder')\n")
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    claim_names()
    root = Path(resources.__file__).parents[1]
    for name in NAMES:
        assert sys.modules[name].__file__ == str(root / name / "__init__.py")


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import engine as paddle", ["engine.py"]),
        ("def f():\n    from resources.a import b", ["resources/__init__.py"]),
        ("import os, widgets.button, engine", ["engine.py", "widgets.py"]),
        ("import paddle, studio, other", []),
        ("from . import engine", []),
        ("import engine\n(", []),
    ],
)
def test_modules_of_a_script_whose_names_are_taken(source: str, names: list[str], tmp_path: Path) -> None:
    for name in ("engine.py", "widgets.py", "resources/__init__.py", "other.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    lines = list(taken_names(source, tmp_path))
    assert [line.partition(": not imported: the name ")[0] for line in lines] == [
        str(tmp_path / name) for name in names
    ]
    assert not list(taken_names("import engine, resources", Path(resources.__file__).parents[1]))
