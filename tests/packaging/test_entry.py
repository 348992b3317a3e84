"""The entry of the bundle reads the words that Python would, and leaves those of ``model-studio`` alone."""

from __future__ import annotations

import ast
import os
import re
import sys
from pathlib import Path

import pytest

from tests.arch.repository_files import ROOT, repository_files
from tests.packaging.bundle_modules import FOLDER, module

entry = module("entry")


@pytest.mark.parametrize(
    ("words", "kind", "what", "flags", "rest"),
    [
        (["-m", "engine.onnx.run_files", "a", "-b"], "m", "engine.onnx.run_files", "", ["a", "-b"]),
        (["-P", "-c", "print(1)", "train", "--lr", "1"], "c", "print(1)", "P", ["train", "--lr", "1"]),
        (["-I", "-S", "-B", "child.py"], "script", "child.py", "ISB", []),
        (["-ISBc", "x"], "c", "x", "ISB", []),
        (["-u", "-E", "-mjson.tool", "f"], "m", "json.tool", "uE", ["f"]),
        (["-W", "ignore", "-Wdefault", "-X", "dev", "-s", "-c", "x"], "c", "x", "s", []),
    ],
)
def test_words_of_python(words: list[str], kind: str, what: str, flags: str, rest: list[str]) -> None:
    found = entry.read_words(words)
    assert (found.kind, found.what, found.flags, found.rest) == (kind, what, set(flags), rest)
    assert found.warnings == (("ignore", "default") if "-W" in words else ())


def test_a_script_needs_no_flag(tmp_path: Path) -> None:
    script = tmp_path / "起 动.py"
    script.touch()
    assert entry.read_words([str(script), "x"]).what == str(script)
    assert entry.read_words([str(script.with_name("absent.py"))]) is None


@pytest.mark.parametrize(
    "words",
    [[], ["--version"], ["train", "--lr", "1"], ["-h"], ["run", "x.py"], ["-c"], ["-"], ["-u"], ["-k", "x"]],
)
def test_words_of_the_program(words: list[str]) -> None:
    assert entry.read_words(words) is None


def test_every_process_of_the_program_is_started_with_words_that_the_entry_knows() -> None:
    """Each list in the sources that begins with ``sys.executable``."""
    found: dict[str, list[str]] = {}
    for path in repository_files("studio", "engine", "widgets", "resources"):
        if path.suffix != ".py" or "sys.executable" not in (text := path.read_text(encoding="utf-8")):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.List) and node.elts and ast.unparse(node.elts[0]) == "sys.executable":
                words = [each.value if isinstance(each, ast.Constant) else "x.py" for each in node.elts[1:]]
                found[f"{path.relative_to(ROOT)}:{node.lineno}"] = words
    assert len(found) >= 9, found
    for where, words in found.items():
        if words[0].startswith("-"):
            assert entry.read_words(words) is not None, (where, words)


def test_the_path_has_packages_unless_they_are_not_wanted(tmp_path: Path) -> None:
    home = str(tmp_path / "lib" / "_internal")
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    library = os.path.join(home, "lib", version)
    more = {"PYTHONPATH": os.pathsep.join(["/one", "", "/two"])}
    path = entry.search_path(home, frozenset(), more, [home, "/base.zip"])
    site = os.path.join(library, "site-packages")
    assert path == [library, os.path.join(library, "lib-dynload"), "/base.zip", site, "/one", "/two"]
    assert entry.search_path(home, frozenset("IS"), more, [home]) == path[:2]
    fast = tmp_path / "lib" / "fast"
    fast.mkdir(parents=True)
    assert entry.search_path(home, frozenset("E"), more, [home]) == [*path[:2], site, str(fast)]


def test_other_programs_do_not_inherit_what_the_loader_sets() -> None:
    found = {
        "_PYI_ARCHIVE_FILE": "x",
        "LD_LIBRARY_PATH": "/bundle",
        "LD_LIBRARY_PATH_ORIG": "/mine",
        "A": "b",
    }
    entry._clean(found)
    assert found == {"LD_LIBRARY_PATH": "/mine", "A": "b"}
    found = {"LD_LIBRARY_PATH": "/bundle"}
    entry._clean(found)
    assert found == {}


def test_the_entry_imports_little_before_the_path_is_known() -> None:
    tree = ast.parse((FOLDER / "entry.py").read_text(encoding="utf-8"))
    imported = {
        name
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names]
        )
    }
    assert imported == {"os", "sys", "types"}
    assert re.search(r"freeze_support\(\)", (FOLDER / "entry.py").read_text(encoding="utf-8"))
