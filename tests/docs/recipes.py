"""The recipes of docs/recipes, and a copy of the repository that they are carried out in."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INDEX = ROOT / "CONTRIBUTING.md"
COPIED = ("engine", "studio", "widgets", "resources", "tests", "docs", "pyproject.toml")
# Variables that would join a process to this test run: its workers, its options and its count of lines.
JOINING = ("PYTEST_", "COV_", "COVERAGE_")
# A paragraph that begins with a path names the file of the blocks that follow.
_PART = re.compile(
    r"^\n`(?P<path>[\w/]+\.p[oy])`|^```(?P<kind>python|diff|sh)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Step:
    """One block of a recipe: a new file, a change of one that is there, or commands."""

    path: str
    kind: str
    text: str


def recipes() -> dict[str, list[Step]]:
    """Title of a recipe -> its steps, in the order of the index."""
    found = {}
    for name in re.findall(r"\]\((docs/recipes/[\w-]+\.md)\)", INDEX.read_text(encoding="utf-8")):
        heading, _, text = (ROOT / name).read_text(encoding="utf-8").partition("\n")
        found[heading.removeprefix("# ")] = list(_steps(text))
    return found


def _steps(text: str) -> Iterator[Step]:
    path = ""
    for match in _PART.finditer(text):
        path = match["path"] or path
        if match["kind"] == "sh":
            yield Step("", "sh", match["text"])
        elif match["kind"]:
            yield Step(path, match["kind"], match["text"])


def carry_out(step: Step, root: Path) -> None:
    """Do what the block says; AssertionError where it does not fit the file, or a command fails."""
    if step.kind == "sh":
        for line in step.text.splitlines():
            command, *arguments = line.split()
            assert command == "python", f"recipes run python only: {line}"
            done = python(root, *arguments)
            assert done.returncode == 0, said(done)
        return
    path = root / step.path
    if step.kind == "python":
        assert not path.exists(), f"{step.path} exists already"
        path.parent.mkdir(exist_ok=True)
        path.write_text(step.text, encoding="utf-8")
        return
    text = path.read_text(encoding="utf-8")
    for hunk in step.text.split("@@\n"):
        lines = hunk.splitlines(keepends=True)
        before = "".join(line[1:] for line in lines if line[0] != "+")
        after = "".join(line[1:] for line in lines if line[0] != "-")
        assert text.count(before) == 1, f"{step.path} has not exactly one place that reads:\n{before}"
        text = text.replace(before, after)
    path.write_text(text, encoding="utf-8")


def copy_repository(to: Path) -> None:
    """The product and its tests: copies, because through links the commands of recipes would write here."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, to / name, ignore=_not_copied)
        else:
            shutil.copy2(source, to / name)


def _not_copied(folder: str, _names: list[str]) -> list[str]:
    """Bytecode is valid in the copy too; to compile the repository takes longer than the tests."""
    return ["images"] if Path(folder).name == "docs" else []


def python(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A fresh Python that imports from ``root`` and knows nothing of this test run."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(JOINING)}
    environment = inherited | {"PYTHONPATH": str(root)}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=root, env=environment, capture_output=True, encoding="utf-8", check=False
    )


def said(done: subprocess.CompletedProcess[str]) -> str:
    """The end of what a process wrote."""
    return done.stdout[-8000:] + done.stderr[-4000:]
