"""Where an agreement is needed, a model runs as the bytes that were agreed to, and nothing else there."""

from __future__ import annotations

import importlib
import importlib.machinery
import inspect
import linecache
import pickle
import py_compile
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from engine.core.errors import CodeError, DataError
from engine.core.models.local_imports import AGREED, only_agreed, serve, serving, stop_serving
from engine.files.run_source import keep_source, run_code
from engine.training import TrainingConfig
from engine.training.network.models import LoadedModel, find_model, load_model
from engine.training.setup import model_source
from resources.local_code import read_code

NET = """{imports}
from engine import nn
class Net(nn.Layer):
    @staticmethod
    def value():
        {body}
"""


@pytest.fixture(autouse=True)
def _nothing_stays(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Modules of a test's folder are no other test's."""
    before = set(sys.modules)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    stop_serving()
    for name in set(sys.modules) - before:
        del sys.modules[name]


def write(folder: Path, imports: str, body: str = "return 0", **files: str) -> Path:
    files = {"net": NET.format(imports=imports, body=body), **files}
    for name, text in files.items():
        path = folder / f"{name.replace('__in', '/').replace('_init', '__init__')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "net.py"


def load(file: Path) -> LoadedModel:
    return load_model(find_model(f"{file}:Net"))


def kept(loaded: LoadedModel, folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): data for path, data in loaded.files.items()}


LAZY = "import agreed_lazy; return agreed_lazy.X"
EVIL = "raise RuntimeError('code that was not agreed to')\n"


@pytest.mark.parametrize(
    ("imports", "body"),
    [
        ("import agreed_helper", "return agreed_helper.X"),
        ("", "import agreed_helper; return agreed_helper.X"),
        ("", "from agreed_pkg.mod import X; return X"),
        ("from agreed_pkg import *", "return mod.X"),
        ("import agreed_pkg.mod as m", "return m.X"),
        ("from agreed_space.mod import X", "return X"),
    ],
)
def test_agreed_modules_are_imported_at_any_time(imports: str, body: str, tmp_path: Path) -> None:
    file = write(
        tmp_path, imports, body, agreed_helper="import agreed_pkg\nX = agreed_pkg.X\n",
        agreed_pkg__in_init="from .mod import X\n__all__ = ['mod']\n", agreed_pkg__inmod="X = 7\n",
        agreed_space__inmod="X = 7\n",
    )  # fmt: skip
    with only_agreed(read_code(file).digest):
        loaded = load(file)
        assert loaded.cls.value() == 7
        assert not (tmp_path / "__pycache__").exists()
    assert list(loaded.files) == list(read_code(file).paths())


def test_without_an_agreement_no_code_of_the_user_runs(tmp_path: Path) -> None:
    file = write(tmp_path, EVIL)
    with (
        only_agreed(""),
        pytest.raises(CodeError, match=r"before you agreed to run its code: .*net\.py; start"),
    ):
        load(file)
    with only_agreed(""):
        assert load_model(find_model("lenet")).source.built_in


def test_changed_code_does_not_run_and_is_named(tmp_path: Path) -> None:
    file = write(tmp_path, "import agreed_helper", agreed_helper="")
    with only_agreed(read_code(file).digest):
        (tmp_path / "agreed_helper.py").write_text(EVIL)
        with pytest.raises(
            CodeError, match=r"changed after you agreed .* and 1 file that it imports: agreed_h"
        ):
            load(file)


def test_later_changes_are_neither_imported_nor_converted_nor_kept(tmp_path: Path) -> None:
    files = {"agreed_helper": "Y = 1\n", "agreed_late": "X = 1\n"}
    file = write(tmp_path, "import agreed_helper", "from agreed_late import X; return X", **files)
    with only_agreed(read_code(file).digest):
        loaded = load(file)
        for name in ("net", "agreed_helper", "agreed_late"):
            (tmp_path / f"{name}.py").write_text(EVIL)
        linecache.checkcache()
        assert loaded.cls.value() == 1
        assert "code that was not" not in inspect.getsource(loaded.cls)
    keep_source(
        tmp_path, {file.relative_to(tmp_path).as_posix(): data for file, data in loaded.files.items()}
    )
    assert EVIL.encode() not in run_code(tmp_path).sources.values()


def compiled(folder: Path) -> None:
    (folder / "source.py").write_text(EVIL)
    py_compile.compile(str(folder / "source.py"), str(folder / "agreed_other.pyc"))


def extension(folder: Path) -> None:
    (folder / f"agreed_other{importlib.machinery.EXTENSION_SUFFIXES[0]}").write_bytes(b"\x7fELF")


def package(folder: Path) -> None:
    (folder / "agreed_other").mkdir()
    (folder / "agreed_other" / "__init__.py").write_text(EVIL)


def linked(folder: Path) -> None:
    (folder / "elsewhere.txt").write_text(EVIL)
    (folder / "agreed_other.py").symlink_to(folder / "elsewhere.txt")


def in_package(folder: Path) -> None:
    (folder / "agreed_pkg" / "agreed_other.py").write_text(EVIL)


@pytest.mark.parametrize("make", [compiled, extension, package, linked, in_package])
@pytest.mark.parametrize("late", [False, True])
def test_a_name_that_is_made_at_run_time_is_refused(make, late: bool, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    name = "agreed_pkg.agreed_other" if make is in_package else "agreed_other"
    dynamic = f"__import__('importlib').import_module('{name}')"
    file = write(tmp_path, f"import agreed_pkg\n{'' if late else dynamic}", dynamic, agreed_pkg__in_init="")
    make(tmp_path)
    sys.path.insert(0, str(tmp_path))  # as where Python was started in the folder
    with only_agreed(read_code(file).digest):
        said = rf"agreed_other[\w.-]*: the model imports it, and you have not .* write `import {name}`"
        with pytest.raises(CodeError, match=said):
            load(file).cls.value()
        assert str(tmp_path) not in sys.path


@pytest.mark.parametrize("name", ["agreed_around.agreed_more", "agreed_around"])
def test_a_folder_is_not_imported_from_by_the_name_of_a_package_around_it(name: str, tmp_path: Path) -> None:
    file = write(tmp_path / "agreed_around", "", f"__import__('importlib').import_module('{name}')")
    (file.parent / "__init__.py").write_text(EVIL if name == "agreed_around" else "")
    (file.parent / "agreed_more.py").write_text(EVIL)
    sys.path.insert(0, str(tmp_path))  # as where Python was started in the folder around it
    with only_agreed(read_code(file).digest):
        with pytest.raises(
            CodeError, match=r"agreed_\w+\W.*: the model imports it as agreed_around, and you have"
        ):
            load(file).cls.value()
        # A folder below it that is on the path, as that of an environment's packages, is another matter.
        (file.parent / "lib").mkdir()
        (file.parent / "lib" / "agreed_below.py").write_text("X = 1\n")
        sys.path.insert(0, str(file.parent / "lib"))
        assert importlib.import_module("agreed_below").X == 1


@pytest.mark.parametrize("how", ["path", "finder"])
@pytest.mark.parametrize("folder", ["agreed_edited", "agreed_edited/inner"])
def test_a_package_that_is_installed_from_its_own_folder_is_agreed_to_by_its_name(
    how: str, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``pip install -e`` puts its folder on the path, or a finder behind Python's own."""
    name = folder.replace("/", ".")
    imports = f"import {name}.agreed_layers as layers\nfrom {name} import agreed_sizes"
    dynamic = f"__import__('importlib').import_module('{name}.agreed_more').X"
    file = write(
        tmp_path / folder, imports, f"return [layers.X, agreed_sizes.X, {dynamic}]", _init="",
        agreed_layers=f"from .agreed_sizes import X\nimport {name}.agreed_late", agreed_late="",
        agreed_sizes="X = 5\n",
    )  # fmt: skip
    (tmp_path / "agreed_edited" / "__init__.py").write_text("")
    (file.parent / "agreed_more.py").write_text(EVIL)

    class Editable:
        @staticmethod
        def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
            places = [str(tmp_path)] if name == "agreed_edited" else None
            return importlib.machinery.PathFinder.find_spec(name, places) if places else None

    if how == "path":
        sys.path.insert(0, str(tmp_path))
    else:
        monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Editable])
    code = read_code(file)
    wanted = {"net.py", "__init__.py", "agreed_layers.py", "agreed_late.py", "agreed_sizes.py"}
    assert code.sources.keys() == wanted
    with only_agreed(code.digest):
        loaded = load(file)
        (file.parent / "agreed_late.py").write_text(EVIL)  # what is compiled was read before
        refused = r"agreed_more\.py: the model imports it as .*agreed_more, and you have not agreed to run it"
        with pytest.raises(CodeError, match=refused):
            loaded.cls.value()
    stop_serving()
    with only_agreed(code.digest), pytest.raises(CodeError, match=r"it changed after you agreed .*agreed_la"):
        load(file)
    monkeypatch.undo()


def test_other_names_are_those_of_installed_packages(tmp_path: Path) -> None:
    """``queue.py`` next to a model that does not import it is nothing to the standard library."""
    file = write(tmp_path, "", "import wsgiref.util as u; return u.__file__")
    (tmp_path / "mailbox.py").write_text(EVIL)
    for name in [name for name in sys.modules if name.partition(".")[0] in ("wsgiref", "mailbox")]:
        del sys.modules[name]
    with only_agreed(read_code(file).digest):
        assert "wsgiref" in load(file).cls.value()
        assert importlib.import_module("mailbox").Mailbox
        with pytest.raises(ModuleNotFoundError, match="No module named 'agreed_nowhere'"):
            importlib.import_module("agreed_nowhere")


def test_a_file_that_was_named_may_import_what_it_likes(tmp_path: Path) -> None:
    files = {"agreed_lazy": "X = 3\n", "agreed_dynamic": ""}
    file = write(tmp_path, "__import__('agreed_dynamic')", LAZY, **files)
    assert AGREED.get() is None
    loaded = load(file)
    assert loaded.cls.value() == 3
    assert [path.stem for path in loaded.files] == ["net", "agreed_lazy", "agreed_dynamic"]


def test_a_run_keeps_and_imports_all_that_it_was_made_from(tmp_path: Path) -> None:
    files = {"agreed_pkg__in_init": "", "agreed_pkg__inmod": "", "agreed_dynamic": "Z = 1\n"}
    dynamic = "import agreed_pkg.mod\n__import__('agreed_dynamic')"
    file = write(tmp_path, dynamic, LAZY, agreed_lazy="X = 3\n", **files)
    loaded, run = load(file), tmp_path / "run"
    run.mkdir()
    keep_source(run, kept(loaded, tmp_path))
    for path in loaded.files:
        path.unlink()
    del sys.modules["agreed_dynamic"]
    config = TrainingConfig(model=f"{file}:Net")
    with only_agreed(run_code(run).digest):
        again = load_model(model_source(config, run / "source"))
        assert again.cls.value() == 3
        assert sys.modules["agreed_dynamic"].__file__ == str(run / "source" / "agreed_dynamic.py")
    (run / "source" / "agreed_lazy.py").write_text(EVIL)
    with only_agreed(run_code(run).digest):
        (run / "source" / "more.py").write_text("")
        with pytest.raises(CodeError, match="changed after you agreed"):
            load_model(model_source(config, run / "source"))


def test_too_much_code_is_refused_with_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(tmp_path, "import agreed_helper", "return 1", agreed_helper="#" * 200)
    monkeypatch.setattr("resources.local_code.MAX_BYTES", 180)
    with only_agreed("0" * 64), pytest.raises(DataError, match=r"agreed_helper\.py: too much code"):
        load(file)
    assert load(file).cls.value() == 1  # where it was named it is the user's


def test_a_model_of_another_folder_has_its_own_helper(tmp_path: Path) -> None:
    for value in (1, 2):
        folder = tmp_path / str(value)
        file = write(folder, "import agreed_same", "return agreed_same.X", agreed_same=f"X = {value}\n")
        assert load(file).cls.value() == value


def test_a_process_that_loads_data_imports_the_same_bytes(tmp_path: Path) -> None:
    """On a system without fork, and where a script chooses spawn, what it needs travels as bytes."""
    file = write(
        tmp_path, "from agreed_data import Rows", "return Rows()", agreed_data="class Rows:\n    X = 5\n"
    )
    with only_agreed(read_code(file).digest):
        rows = pickle.dumps(load(file).cls.value())
        files = serving()
        assert files is not None
        assert files.closed
        sent = pickle.dumps(files)
    (tmp_path / "agreed_data.py").write_text(EVIL)
    del sys.modules["agreed_data"]
    serve(pickle.loads(sent))
    assert pickle.loads(rows).X == 5
