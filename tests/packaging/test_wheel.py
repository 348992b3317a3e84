"""The wheel: built twice it has the same bytes, and it contains the bill of materials."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.arch.repository_files import ROOT, repository_files

pytest.importorskip("hatchling", reason="hatchling is missing: it comes with the extra test")


def _built(folder: Path, order: int, umask: int, zone: str) -> Path:
    """The wheel of a copy of the repository in which files have other times and modes, in another place."""
    source = folder / f"copy-{order}"
    wanted = ("engine/", "studio/", "widgets/", "resources/", "packaging/", "docs/")
    for path in sorted(repository_files("*"), reverse=bool(order)):
        name = path.relative_to(ROOT).as_posix()
        if path.is_file() and (name.startswith(wanted) or "/" not in name):
            target = source / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
            target.chmod(0o666 & ~umask)
            os.utime(target, (1e9 + order * 1e7, 1e9 + order * 1e7))
    made = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import os; os.umask({umask}); import hatchling.build as b; b.build_wheel('made')",
        ],
        cwd=source,
        env={**os.environ, "TZ": zone, "PYTHONHASHSEED": str(order + 1)},
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr
    (wheel,) = (source / "made").glob("*.whl")
    return wheel


def test_a_wheel_built_twice_has_the_same_bytes_and_a_bill_of_materials(tmp_path: Path) -> None:
    one, other = _built(tmp_path, 0, 0o022, "UTC"), _built(tmp_path, 1, 0o077, "Asia/Kolkata")
    assert one.name == other.name
    assert one.read_bytes() == other.read_bytes()
    with zipfile.ZipFile(one) as wheel:
        (bill,) = [name for name in wheel.namelist() if ".dist-info/sboms/" in name]
        assert wheel.read(bill) == (ROOT / "packaging/sbom.cdx.json").read_bytes()
        assert bill in wheel.read(bill.partition("/")[0] + "/RECORD").decode()
