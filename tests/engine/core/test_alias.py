"""``import paddle`` gives the engine's own modules; a name that is missing is told in Paddle's words."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator

import pytest

import engine
from engine.core import alias
from engine.core.alias.absent import ABSENT
from engine.core.alias.missing import asked_for


@pytest.fixture
def paddle() -> Iterator[object]:
    """The alias, gone again after the test."""
    finders = list(sys.meta_path)
    alias.install()
    yield importlib.import_module("paddle")
    sys.meta_path[:] = finders
    for name in [name for name in sys.modules if name == "paddle" or name.startswith("paddle.")]:
        del sys.modules[name]


def test_modules_are_the_same_objects(paddle: object) -> None:
    assert paddle is engine
    for name in ("nn", "nn.functional", "vision.datasets.mnist", "optimizer.lr", "static"):
        assert importlib.import_module(f"paddle.{name}") is importlib.import_module(f"engine.{name}")
    assert sys.modules["paddle.nn"] is sys.modules["engine.nn"]


def test_importing_leaves_the_modules_as_they_are(paddle: object) -> None:
    module = importlib.import_module("paddle.nn.functional")
    assert module.__name__ == module.__spec__.name == "engine.nn.functional"
    assert module.__package__ == "engine.nn.functional"
    assert importlib.reload(engine.vision.image) is engine.vision.image


def test_installing_twice_is_installing_once(paddle: object) -> None:
    count = len(sys.meta_path)
    alias.install()
    assert len(sys.meta_path) == count


@pytest.mark.parametrize(
    ("code", "name", "remedy"),
    [
        ("import paddle; paddle.nn.Lineer", "paddle.nn.Lineer", "did you mean paddle.nn.Linear?"),
        ("from paddle.nn import ReLu", "paddle.nn.ReLu", "did you mean paddle.nn.ReLU?"),
        ("import paddle.optimiser", "paddle.optimiser", "did you mean paddle.optimizer?"),
        ("import paddle; paddle.relu", "paddle.relu", "did you mean paddle.nn.functional.relu?"),
        ("import paddle; paddle.ones([2]).reshap", "Tensor.reshap", "did you mean Tensor.reshape?"),
        ("from paddle.nn.functional.relu import x", "paddle.nn.functional.relu", "did you mean"),
        ("import paddle.zzzz.qqqq", "paddle.zzzz", "docs/api.md lists the names that are there"),
    ],
)
def test_a_missing_name_is_told_with_what_was_meant(
    paddle: object, code: str, name: str, remedy: str
) -> None:
    with pytest.raises((AttributeError, ImportError)) as raised:
        exec(code, {})
    assert (asked_for(raised.value) or "").startswith(f"{name}: the engine has no such name; {remedy}")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import paddle; paddle.static.nn.nce", "paddle.static.nn.nce: is absent: it draws its noise"),
        ("from paddle.static.nn import sequence_pad", "paddle.static.nn.sequence_pad: is absent: it works"),
        ("import paddle.static as s; s.IpuStrategy()", "paddle.static.IpuStrategy: is absent: it is for"),
    ],
)
def test_a_name_that_is_absent_on_purpose_is_told_with_the_reason(
    paddle: object, code: str, said: str
) -> None:
    with pytest.raises((AttributeError, ImportError)) as raised:
        exec(code, {})
    assert (asked_for(raised.value) or "").startswith(said)
    if isinstance(raised.value, AttributeError):
        assert str(raised.value).startswith(said)


def test_what_is_absent_on_purpose_is_absent() -> None:
    for module, names in ABSENT.items():
        found = importlib.import_module(alias.real_name(module))
        assert [name for name in names if hasattr(found, name)] == []


@pytest.mark.parametrize("code", ["import zzzz", "[].x", "from os import zz", "1 / 0", "import os; os.zzzz"])
def test_other_errors_are_not_about_the_engine(code: str) -> None:
    with pytest.raises(Exception) as raised:
        exec(code, {})
    assert asked_for(raised.value) is None
