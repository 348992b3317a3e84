"""The golden files for a test: a copy, opened by the installation that wrote them or by another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.golden_files import KEY, OTHER_KEY, copy_to, use_key


@pytest.fixture(params=["own", "foreign"])
def own(request: pytest.FixtureRequest) -> bool:
    """Whether this installation has the key that signed the golden files; the test runs for both."""
    wrote_them = request.param == "own"
    use_key(KEY if wrote_them else OTHER_KEY)
    return wrote_them


@pytest.fixture
def files(own: bool, tmp_path: Path) -> Path:
    """A copy of the golden files."""
    return copy_to(tmp_path)


@pytest.fixture
def project(files: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project of the copy; it is the working folder, since its run names its data relative to that."""
    monkeypatch.chdir(files / "project")
    return files / "project"
