"""The golden files of each version: a copy, opened by the installation that wrote it or by another one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.golden.golden_files import KEY, OTHER_KEY, copy_to, recorded_values, use_key, versions


@pytest.fixture(params=versions())
def version(request: pytest.FixtureRequest) -> str:
    """The version that wrote the golden files; the test runs for each."""
    return str(request.param)


@pytest.fixture
def values(version: str) -> dict[str, Any]:
    """The results that the golden files gave when they were written."""
    return recorded_values(version)


@pytest.fixture(params=["own", "foreign"])
def own(request: pytest.FixtureRequest) -> bool:
    """Whether this installation has the key that signed the golden files; the test runs for both."""
    wrote_them = request.param == "own"
    use_key(KEY if wrote_them else OTHER_KEY)
    return wrote_them


@pytest.fixture
def files(own: bool, version: str, tmp_path: Path) -> Path:
    """A copy of the golden files."""
    return copy_to(tmp_path, version)


@pytest.fixture
def project(files: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project of the copy; it is the working folder, since its run names its data relative to that."""
    monkeypatch.chdir(files / "project")
    return files / "project"
