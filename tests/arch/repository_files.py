"""The files that belong to the repository: those that git lists, or all of an archive without git."""

from __future__ import annotations

import subprocess
from fnmatch import fnmatchcase
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_NOT_OURS = {".git", ".venv", "build", "dist", "__pycache__"}


def repository_files(*patterns: str) -> list[Path]:
    """The existing files that match git's patterns (a folder, a file, or ``*.py``), sorted."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if listed.returncode == 0:
        paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:
        paths = [path for path in ROOT.rglob("*") if _matches(path.relative_to(ROOT), patterns)]
    return sorted(path for path in paths if path.is_file())


def _matches(path: Path, patterns: tuple[str, ...]) -> bool:
    if _NOT_OURS & set(path.parts):
        return False
    name = path.as_posix()
    return any(
        name == each or name.startswith(f"{each.rstrip('/')}/") or ("*" in each and fnmatchcase(name, each))
        for each in patterns
    )
