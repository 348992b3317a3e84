"""What a file imports from its own folder is found without running it; its digest is of all of it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from resources import local_code
from resources.local_code import CodeTooLarge, read_code


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / next(iter(files))


NESTED = """
class A:
    async def f(self):
        async with x as y:
            for z in y:
                pass
            else:
                import helper
        match z:
            case 1:
                import first
        while z:
            try:
                pass
            except* ValueError:
                import random
            finally:
                if (lambda: 1)():
                    pass
                elif z:
                    import link
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import helper", ["helper.py"]),
        ("import helper as h, pkg", ["helper.py", "pkg/__init__.py"]),
        ("import pkg.sub.mod", ["pkg/__init__.py", "pkg/sub/__init__.py", "pkg/sub/mod.py", "pkg/up.py"]),
        ("from pkg import up", ["pkg/__init__.py", "pkg/up.py"]),
        ("from pkg.up import anything", ["pkg/__init__.py", "pkg/up.py"]),
        ("from pkg import *", ["pkg/__init__.py", "pkg/sub/__init__.py", "pkg/up.py"]),
        ("from helper import *", ["helper.py"]),
        ("from . import helper", ["helper.py"]),
        ("from .pkg import up", ["pkg/__init__.py", "pkg/up.py"]),
        ("from .. import helper", []),
        ("from space import inner", ["space/inner.py"]),
        ("import space.inner", ["space/inner.py"]),
        ("import both.inner", ["both.py"]),
        (
            "def f():\n    if 0:\n        try:\n            import helper\n        except ImportError: ...",
            ["helper.py"],
        ),
        (NESTED, ["first.py", "helper.py", "link.py", "random.py", "second.py"]),
        ("import first", ["first.py", "second.py"]),
        ("import broken", ["broken.py"]),
        ("import latin", ["helper.py", "latin.py"]),
        ("import link", ["helper.py", "link.py"]),
        ("import random", ["random.py"]),
        ("import Helper, HELPER", []),
        ("import numpy, os, absent, data, pipe, folder", []),
        ("import sys, engine, paddle.nn", []),
        ("__import__('helper'); name = 'helper'", []),
        ("import helper\n(", []),
    ],
)
def test_the_files_that_are_imported(text: str, found: list[str], tmp_path: Path) -> None:
    file = written(
        tmp_path,
        {
            "net.py": text,
            "helper.py": "",
            "pkg/__init__.py": "",
            "pkg/up.py": "",
            "pkg/sub/__init__.py": "",
            "pkg/sub/mod.py": "from ..up import x\nfrom ... import helper\n",
            "pkg/notes.txt": "",
            "space/inner.py": "",
            "both.py": "",
            "both/inner.py": "",
            "first.py": "import second, net",
            "second.py": "import first",
            "broken.py": "import helper\n(",
            "random.py": "",
            "engine.py": "",
            "sys.py": "",
            "paddle/nn.py": "",
            "data/table.csv": "",
            "folder.py/inner.py": "",
            "target.py": "import helper",
        },
    )
    (tmp_path / "latin.py").write_bytes(
        "# -*- coding: latin-1 -*-\nimport helper  # \xe9\n".encode("latin-1"),
    )
    (tmp_path / "link.py").symlink_to(tmp_path / "target.py")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.py")
    code = read_code(file)
    assert code.file == file
    assert sorted(code.sources) == sorted(["net.py", *found])


def test_of_one_file_the_digest_is_that_of_its_content(tmp_path: Path) -> None:
    """An agreement that an earlier version remembered holds."""
    file = written(tmp_path, {"net.py": "import numpy\n"})
    assert read_code(file).digest == hashlib.sha256(b"import numpy\n").hexdigest()
    assert read_code(file, b"import os").digest == hashlib.sha256(b"import os").hexdigest()


CHANGES: dict[str, Callable[[Path], object]] = {
    "the file": lambda folder: (folder / "net.py").write_text("import helper, pkg.mod  # other"),
    "a helper": lambda folder: (folder / "helper.py").write_text("X = 2"),
    "a module of a package": lambda folder: (folder / "pkg/mod.py").write_text("X = 2"),
    "a new package in front of a module": lambda folder: written(folder, {"helper/__init__.py": "X = 1"}),
    "a new __init__": lambda folder: (folder / "pkg/__init__.py").write_text(""),
    "a new module that was imported from elsewhere": lambda folder: (folder / "numpy.py").write_text(""),
    "one that is gone": lambda folder: (folder / "helper.py").unlink(),
    "another name": lambda folder: (folder / "helper.py").rename(folder / "numpy.py"),
    "contents exchanged": lambda folder: written(folder, {"helper.py": "X = 'mod'", "pkg/mod.py": "X = 1"}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_any_file_is_another_digest(change: str, tmp_path: Path) -> None:
    files = {"net.py": "import helper, pkg.mod, numpy", "helper.py": "X = 1", "pkg/mod.py": "X = 'mod'"}
    file = written(tmp_path, files)
    before = read_code(file).digest
    written(tmp_path, {"other.py": "", "notes.txt": ""})
    assert read_code(file).digest == before
    CHANGES[change](tmp_path)
    assert read_code(file).digest != before


def test_the_order_and_the_place_do_not_count(tmp_path: Path) -> None:
    files = {"net.py": "import helper, pkg.mod", "helper.py": "", "pkg/mod.py": ""}
    first, second = (read_code(written(tmp_path / place, files)) for place in ("one", "two"))
    assert first.digest == second.digest
    assert replace(first, sources=dict(reversed(first.sources.items()))).digest == first.digest


def test_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_code, "MAX_BYTES", 100)
    monkeypatch.setattr(local_code, "MAX_FILES", 3)
    file = written(tmp_path, {"net.py": "import a, b", "a.py": "", "b.py": "#" * 101})
    with pytest.raises(
        CodeTooLarge, match=r"b\.py: too much code: a model and .* can have 100 bytes together; store data"
    ):
        read_code(file)
    with pytest.raises(CodeTooLarge, match=r"net\.py: too much code"):
        read_code(file, b"#" * 101)
    written(tmp_path, {"b.py": "import c", "c.py": ""})
    with pytest.raises(CodeTooLarge, match=r"net\.py: it imports over 3 files of its folder: c\.py; move"):
        read_code(file)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "net.py")
    with pytest.raises(OSError, match="a named pipe, not a regular file"):
        read_code(tmp_path / "net.py")
