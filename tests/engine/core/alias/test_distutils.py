"""``distutils.util.strtobool`` in scripts that the engine runs with a Python that has no distutils."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from engine.core.alias.distutils import strtobool

ROOT = Path(__file__).resolve().parents[4]

SCRIPT = """
import sys

class Without:  # Python from 3.12 on
    def find_spec(self, name, path=None, target=None):
        found = [f.find_spec(name, path, target) for f in finders if name.partition(".")[0] != "distutils"]
        return next(filter(None, found), None)

*finders, last = sys.meta_path
sys.meta_path[:] = [Without(), last]
import distutils.util
from distutils.util import strtobool
print(strtobool("Yes"), distutils.util.strtobool("0"))
"""


def test_scripts_import_it_where_python_has_none(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "engine.run", str(tmp_path / "script.py")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 0\n", "")


def test_other_texts_are_refused() -> None:
    assert [strtobool(text) for text in ("TRUE", "on", "n", "off")] == [1, 1, 0, 0]
    with pytest.raises(ValueError, match="invalid truth value 'maybe'"):
        strtobool("maybe")
