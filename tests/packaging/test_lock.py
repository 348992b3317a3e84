"""The lock files fit pyproject.toml, contain hashes and no address, and the bill of materials fits them."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.arch.repository_files import ROOT

FOLDER = ROOT / "packaging"
AGAIN = "run: python packaging/lock.py"


@cache
def _lock() -> ModuleType:
    spec = importlib.util.spec_from_file_location("requirements_lock", FOLDER / "lock.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def _required(extras: tuple[str, ...]) -> list[Requirement]:
    """The requirements of pyproject.toml, with those of its own extras in their place."""
    settings = _lock().pyproject()
    optional = settings["project"]["optional-dependencies"]
    texts = [*settings["project"]["dependencies"], *settings["build-system"]["requires"], _lock().EDITABLE]
    waiting = list(extras)
    while waiting:
        for text in optional[waiting.pop()]:
            requirement = Requirement(text)
            waiting += requirement.extras if requirement.name == _lock().PROJECT else []
            texts += [] if requirement.name == _lock().PROJECT else [text]
    return [Requirement(text) for text in texts]


def _environments() -> list[dict[str, str]]:
    minors = re.findall(r"Python :: (3\.\d+)\"", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return [
        {
            "python_version": minor,
            "python_full_version": f"{minor}.0",
            "sys_platform": system,
            "platform_python_implementation": "CPython",
        }
        for minor in minors
        for system in ("linux", "darwin", "win32")
    ]


def _versions(name: str, environment: dict[str, str]) -> dict[str, str]:
    """The version of each package that pip installs from a lock file there."""
    packages: dict[str, str] = {}
    for each in _lock().read_lock(FOLDER / name):
        marker = Requirement(f"{each.name}; {each.marker}").marker if each.marker else None
        if marker is None or marker.evaluate(environment):
            assert each.name not in packages, f"{name}: {each.name} twice for {environment}"
            packages[each.name] = each.version
    return packages


@pytest.mark.parametrize("name", ["program.txt", "test.txt", "bundle.txt"])
def test_a_lock_file_has_each_requirement_of_each_python_and_system(name: str) -> None:
    required = _required(_lock().FILES[name])
    assert len(required) > 10
    for environment in _environments():
        versions = _versions(name, environment)
        for each in required:
            if each.marker is None or each.marker.evaluate(environment):
                version = versions.get(canonicalize_name(each.name))
                assert version is not None, f"{name} lacks {each} for {environment}; {AGAIN}"
                assert each.specifier.contains(version), f"{name} has {version}, needed is {each}; {AGAIN}"


def test_all_lock_files_have_the_same_versions() -> None:
    for environment in _environments():
        program, tests, bundle = (
            _versions(name, environment) for name in ("program.txt", "test.txt", "bundle.txt")
        )
        assert program.items() <= tests.items()
        assert program.items() <= bundle.items()


@pytest.mark.parametrize("name", ["program.txt", "test.txt", "bundle.txt"])
def test_a_lock_file_names_versions_and_hashes_only(name: str) -> None:
    """No index, folder or option comes from the machine that made it."""
    line = re.compile(
        r"# Written by .*|[a-z0-9-]+==\S+( ; [\w<>=!'. ]+)? \\"
        r"|    --hash=sha256:[0-9a-f]{64}( \\)?"
        r"|    # +(via ?)?([a-z0-9-]+( \(pyproject\.toml\))?|-r -|-c packaging/test\.txt)?"
    )
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    assert [each for each in lines if not line.fullmatch(each)] == []
    assert [each.name for each in _lock().read_lock(FOLDER / name) if not each.hashes] == []


def test_the_bill_of_materials_belongs_to_the_lock_file() -> None:
    text = (FOLDER / _lock().BILL).read_text(encoding="utf-8")
    assert text == _lock().written_bill(), AGAIN


def test_the_bill_of_materials_names_what_the_program_needs() -> None:
    bill: dict[str, Any] = json.loads(_lock().written_bill())
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    project = _lock().pyproject()["project"]
    assert bill["metadata"]["component"]["version"] == project["version"]
    names = {each["name"] for each in bill["components"]}
    assert {canonicalize_name(Requirement(each).name) for each in project["dependencies"]} <= names
    assert "shiboken6" in names  # required by a requirement
    assert names.isdisjoint({"pytest", "ruff", "hatchling", "editables"})
    known = {each["bom-ref"] for each in [bill["metadata"]["component"], *bill["components"]]}
    assert len(known) == len(bill["components"]) + 1
    assert {each["ref"] for each in bill["dependencies"]} == known
    assert {one for each in bill["dependencies"] for one in each["dependsOn"]} <= known
    (qt,) = [
        each for each in bill["dependencies"] if each["ref"].startswith("pkg:pypi/pyside6-essentials@6.11")
    ]
    assert [one.partition(".")[0] for one in qt["dependsOn"]] == ["pkg:pypi/shiboken6@6"]


def test_a_change_of_the_requirements_changes_the_bill(tmp_path: Path) -> None:
    text = (FOLDER / "program.txt").read_text(encoding="utf-8")
    (tmp_path / "program.txt").write_text(text.replace("psygnal==0.", "psygnal==9."), encoding="utf-8")
    before, after = (json.loads(_lock().written_bill(folder)) for folder in (FOLDER, tmp_path))
    assert before["serialNumber"] != after["serialNumber"]
    assert any(each["purl"].startswith("pkg:pypi/psygnal@9.") for each in after["components"])


def test_a_line_that_is_not_locked_is_refused(tmp_path: Path) -> None:
    (tmp_path / "program.txt").write_text("# a comment\nnumpy>=2\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"program\.txt: a line that is not a locked package: 'numpy>=2'"):
        _lock().read_lock(tmp_path / "program.txt")
