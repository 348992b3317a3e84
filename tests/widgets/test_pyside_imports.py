"""PySide does not read the source of what is imported after it."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import linecache
import widgets
import wave  # a module that nothing else has imported
assert not any(name.endswith("wave.py") for name in linecache.cache), list(linecache.cache)
"""


def test_no_source_is_read_at_an_import() -> None:
    ended = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
