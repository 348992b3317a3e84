"""Each released version has golden files, and so has the version of this program."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from tests.arch.repository_files import ROOT
from tests.golden.golden_files import VALUES, recorded_values, versions


def released(changelog: str) -> set[str]:
    """The versions that have a date in the changelog."""
    return set(re.findall(r"(?m)^## \[(\d[^\]]*)\] - \d{4}-\d\d-\d\d$", changelog))


def test_dates_in_the_changelog_are_releases() -> None:
    text = "## [0.2.0] - unreleased\n\n## [0.1.1] - 2027-02-01\n\n## [0.1.0] - 2027-01-01\n"
    assert released(text) == {"0.1.1", "0.1.0"}


def test_each_version_has_golden_files() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = released((ROOT / "CHANGELOG.md").read_text(encoding="utf-8")) | {project["version"]}
    assert needed - set(versions()) == set(), "run python -m tests.golden.write"


def test_golden_files_were_written_by_their_version() -> None:
    assert {name: recorded_values(name)["written"]["product"] for name in versions()} == {
        name: f"model-studio {name}" for name in versions()
    }


def test_versions_are_in_order(tmp_path: Path) -> None:
    for name in ("0.10.0", "0.9.0", "1.0.0rc1", "1.0.0"):
        (tmp_path / name).mkdir()
        (tmp_path / name / VALUES).write_text("{}")
    (tmp_path / "incomplete").mkdir()
    assert versions(tmp_path) == ["0.9.0", "0.10.0", "1.0.0rc1", "1.0.0"]
