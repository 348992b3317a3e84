"""Models by name: what is found, what is imported and from where, and what is refused."""

from __future__ import annotations

import importlib.util
import py_compile
from pathlib import Path

import pytest

from engine.core.errors import ArgumentError, DataError
from engine.training import TrainingConfig
from engine.training.network.models import build_model, find_model, load_model
from engine.training.problem import describe_problem
from engine.training.setup import model_source
from resources.families import FAMILIES

NET = '''"""A model."""
from engine import nn
from layers import WIDTH
class Net(nn.Layer):
    def __init__(self, width=WIDTH):
        super().__init__()
        self.linear = nn.Linear(width, 10)
class Wide(nn.Layer):
    def __init__(self, width):
        super().__init__()
SIZE = 3
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "net.py").write_text(NET)
    (tmp_path / "layers.py").write_text("WIDTH = 7\n")
    return tmp_path


@pytest.mark.parametrize(("name", "count"), [("lenet", 61706), ("linear", 7850), ("cnn", 52138)])
def test_the_built_in_models(name: str, count: int) -> None:
    network = build_model(load_model(find_model(name)))
    total = 0
    for parameter in network.parameters():
        size = 1
        for side in parameter.shape:
            size *= side
        total += size
    assert total == count
    assert name in FAMILIES


def test_two_networks_name_their_parameters_alike() -> None:
    first, second = (build_model(load_model(find_model("lenet"))) for _ in range(2))
    assert [p.name for p in first.parameters()] == [p.name for p in second.parameters()]


def test_a_users_model_may_import_its_neighbours(folder: Path) -> None:
    loaded = load_model(find_model(f"{folder / 'net.py'}:Net"))
    assert list(loaded.files) == [folder / "net.py", folder / "layers.py"]
    assert build_model(loaded).linear.weight.shape == [7, 10]
    assert not (folder / "__pycache__").exists()


def test_a_changed_file_is_another_module(folder: Path) -> None:
    name = f"{folder / 'net.py'}:Net"
    build_model(load_model(find_model(name)))
    (folder / "net.py").write_text(NET.replace("WIDTH)", "5)"))
    assert build_model(load_model(find_model(name))).linear.weight.shape == [5, 10]


def test_a_compiled_file_that_claims_to_be_the_source_is_not_believed(folder: Path) -> None:
    source = folder / "net.py"
    (folder / "evil.py").write_text(NET + "raise RuntimeError('not what people read')\n")
    cached = Path(importlib.util.cache_from_source(str(source)))
    cached.parent.mkdir()
    py_compile.compile(
        str(folder / "evil.py"), str(cached), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
    )
    build_model(load_model(find_model(f"{source}:Net")))


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("resnet", ArgumentError, "no such model: got 'resnet'; choose lenet, cnn, linear, mlp, "),
        ("net.txt:Net", ArgumentError, "no such model"),
        ("net.py:not a name", ArgumentError, "no such model"),
        ("absent.py:Net", DataError, "the file does not exist: absent.py"),
        ("FOLDER/net.py:Nest", ArgumentError, "it has no Nest: its layers are Net, Wide"),
        ("FOLDER/net.py:SIZE", ArgumentError, "not a class of nn.Layer: got 3"),
        ("FOLDER/net.py:Wide", ArgumentError, "missing a required argument: 'width'; it takes width"),
    ],
)
def test_invalid_models_are_refused(folder: Path, name: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        build_model(load_model(find_model(name.replace("FOLDER", str(folder)))))


def test_a_run_runs_its_own_copy_and_no_file_of_its_choice(folder: Path, tmp_path: Path) -> None:
    config = TrainingConfig(model=f"{folder / 'net.py'}:Net")
    source = tmp_path / "source"
    source.mkdir()
    with pytest.raises(DataError, match=r"the run's copy of its code does not exist: .*source.net\.py"):
        model_source(config, source)
    (source / "net.py").write_text(NET)
    assert model_source(config, source).file == source / "net.py"


def test_a_users_model_may_import_paddle(tmp_path: Path) -> None:
    source = "import paddle\nfrom paddle.nn import Linear\n\n\nclass Net(paddle.nn.Layer):\n"
    source += "    def __init__(self):\n        super().__init__()\n        self.linear = Linear(3, 10)\n"
    (tmp_path / "net.py").write_text(source)
    network = build_model(load_model(find_model(f"{tmp_path / 'net.py'}:Net")))
    assert network.linear.weight.shape == [3, 10]


def test_a_name_that_the_engine_lacks_is_reported_with_the_users_line(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("import paddle\n\nNet = paddle.nn.Lineer\n")
    with pytest.raises(AttributeError) as raised:
        load_model(find_model(f"{tmp_path / 'net.py'}:Net"))
    problem = describe_problem(raised.value)
    assert problem.message.startswith("paddle.nn.Lineer: the engine has no such name; did you mean")
    assert (problem.file, problem.line) == (str(tmp_path / "net.py"), 3)


def test_a_model_that_is_loaded_again_has_all_its_files(tmp_path: Path) -> None:
    """Else the second training of a process keeps its code without what that imports, and never resumes."""
    (tmp_path / "again_helper.py").write_text("WIDTH = 3\n")
    (tmp_path / "again.py").write_text(
        "from again_helper import WIDTH\nfrom engine import nn\nclass Net(nn.Layer):\n    width = WIDTH\n"
    )
    source = find_model(f"{tmp_path / 'again.py'}:Net")
    names = [[path.name for path in load_model(source).files] for _ in range(2)]
    assert names == [["again.py", "again_helper.py"]] * 2
