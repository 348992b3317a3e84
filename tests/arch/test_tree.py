"""Rules about files and names that no linter knows: length, first line, free names, no pickle, rooms."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import tokenize
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.arch.repository_files import ROOT, repository_files

PRODUCT = ("studio", "widgets", "engine", "resources")
LONGEST = 450  # the soft limit is 400; a page more is where a file surely has two subjects
LONGER_ON_PURPOSE: dict[str, str] = {}  # "path": "reason"; the list only shrinks


@cache
def _files() -> tuple[Path, ...]:
    """Every Python file that belongs to the repository (ignored files are not ours)."""
    return tuple(repository_files("*.py"))


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _product_files() -> list[Path]:
    return [path for path in _files() if _name(path).partition("/")[0] in PRODUCT]


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def test_the_walk_finds_the_product() -> None:
    names = {_name(path) for path in _files()}
    assert {"engine/core/errors.py", "studio/__init__.py", "tests/arch/test_tree.py"} <= names


def test_no_file_has_two_subjects() -> None:
    lengths = {
        _name(path): path.read_text(encoding="utf-8").count("\n")
        for path in _files()
        if not _name(path).startswith("tests/")
    }
    too_long = {name: n for name, n in lengths.items() if n > LONGEST and name not in LONGER_ON_PURPOSE}
    assert too_long == {}
    needless = [name for name in LONGER_ON_PURPOSE if lengths.get(name, 0) <= LONGEST]
    assert needless == [], "take these off the list of long files"


# Files in one folder of the product: more need rooms.
MOST_IN_A_FOLDER = 20
FULLER: dict[str, str] = {  # "folder": "reason"; the list only shrinks
    "engine/jit/convert/passes": "one file for each pass, listed in the order in which they run",
}


def test_no_folder_has_many_files() -> None:
    tops = ("studio/", "widgets/", "engine/", "tests/studio/", "tests/widgets/")
    counts = Counter(
        path.parent.relative_to(ROOT).as_posix() for path in _files() if _name(path).startswith(tops)
    )
    many = {folder: n for folder, n in counts.items() if n > MOST_IN_A_FOLDER and folder not in FULLER}
    assert many == {}


ROOMS = {
    "project", "runs", "train", "data", "code", "graph", "debug", "export", "predict", "checkpoints",
    "compare", "explain", "sweep",
}  # fmt: skip


@pytest.mark.parametrize("layer", ["session", "controllers", "windows", "cli"])
def test_rooms_of_the_studio_have_the_same_names(layer: str) -> None:
    for top in (ROOT / "studio" / layer, ROOT / "tests" / "studio" / layer):
        rooms = {path.name for path in top.iterdir() if any(path.glob("*.py"))}
        assert rooms - ROOMS <= {"work"}, f"{top}: rooms that ARCHITECTURE.md does not name"


def _first_line(path: Path) -> str:
    """The first line of the module's docstring, found without parsing what follows it."""
    skipped = (tokenize.ENCODING, tokenize.COMMENT, tokenize.NL)
    with path.open("rb") as file:
        token = next(token for token in tokenize.tokenize(file.readline) if token.type not in skipped)
    doc = ast.literal_eval(token.string) if token.type == tokenize.STRING else ""
    return doc.partition("\n")[0].strip() if isinstance(doc, str) else ""


def test_every_file_says_what_it_is_for() -> None:
    assert [_name(path) for path in _files() if not _first_line(path)] == []


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def test_no_pickle() -> None:
    """Untrusted files execute nothing: no pickle, no relative of it, no loader that falls back to it.

    Batches that come through the pipe of a worker process that the engine started are not files.
    """
    between_own_processes = {"engine/io/transport.py: pickle"}
    banned = {"pickle", "_pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
    found = []
    for path in _product_files():
        if not any(name in path.read_text(encoding="utf-8") for name in banned):
            continue  # parsing costs a hundred times as much
        for node in ast.walk(_tree(path)):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            elif isinstance(node, ast.Call):
                if any(word.arg == "allow_pickle" and not _is_false(word.value) for word in node.keywords):
                    found.append(f"{_name(path)}:{node.lineno}: allow_pickle")
                function = getattr(node.func, "id", getattr(node.func, "attr", ""))
                if function in ("__import__", "import_module") and node.args:
                    names = [str(getattr(node.args[0], "value", ""))]
            found += [
                f"{_name(path)}:{node.lineno}: {name}"
                for name in names
                if name.partition(".")[0] in banned and f"{_name(path)}: {name}" not in between_own_processes
            ]
    assert found == []


def _packages() -> list[str]:
    return [_name(p.parent).replace("/", ".") for p in _product_files() if p.name == "__init__.py"]


@pytest.mark.parametrize("package", _packages())
def test_public_functions_keep_their_names_free(package: str) -> None:
    """``engine.jit.save`` is a function: importing a module of that name would replace it."""
    folder = ROOT / package.replace(".", "/")
    modules = {found.name for found in pkgutil.iter_modules([str(folder)])}
    taken: set[str] = set()
    for node in _tree(folder / "__init__.py").body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            taken.add(node.name)
        elif isinstance(node, ast.ImportFrom) and node.module != package:
            taken.update(alias.asname or alias.name for alias in node.names)
    clashes = sorted(modules & taken)
    needs_gpu = f"{package}.".startswith("engine.kernels.cupy.")
    if not needs_gpu:  # else its names are read from the source above
        loaded = importlib.import_module(package)
        public = vars(loaded)
        # A package that can be called, such as engine.distributed.launch, is what importing it gives too.
        functions = {
            name for name, value in public.items() if callable(value) and not inspect.ismodule(value)
        }
        clashes += sorted((modules - taken) & functions)
    assert clashes == [], f"{package}: rename these modules: a public name of the package is called the same"


def test_every_folder_is_a_package_with_a_room() -> None:
    """A folder needs __init__.py to be in the wheel, and a place in a contract to be held to it."""
    # resources/models/ and the like hold files for users, which no module imports.
    folders = {path.parent for path in _product_files() if not _name(path).startswith("resources/")}
    assert [_name(folder) for folder in sorted(folders) if not (folder / "__init__.py").is_file()] == []

    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = {contract["id"]: contract for contract in settings["tool"]["importlinter"]["contracts"]}
    for top in ("studio", "engine"):
        assert contracts[top]["exhaustive"] is True
        listed = {layer.strip("()") for layer in contracts[top]["layers"]}
        rooms = {found.name for found in pkgutil.iter_modules([str(ROOT / top)])}
        assert rooms - listed == set(), f"rooms of {top}/ that the import contract does not place"
    assert (ROOT / "pyproject.toml").read_text(encoding="utf-8").count("exhaustive_ignores") == 0
