"""``import paddle`` gives the engine's own modules; an error for a missing name is worded as Paddle's."""

from __future__ import annotations

import gc
import importlib
import subprocess
import sys
import weakref
from collections.abc import Iterator
from contextlib import suppress

import pytest

import engine
from engine.core import alias
from engine.core.alias.absent import ABSENT
from engine.core.alias.missing import message_for


@pytest.fixture
def paddle() -> Iterator[object]:
    """The alias, removed after the test."""
    finders = list(sys.meta_path)
    alias.install()
    yield importlib.import_module("paddle")
    sys.meta_path[:] = finders
    for name in [name for name in sys.modules if name.partition(".")[0] in alias.PACKAGES]:
        del sys.modules[name]


def test_modules_are_the_same_objects(paddle: object) -> None:
    assert paddle is engine
    for name in ("nn", "nn.functional", "vision.datasets.mnist", "optimizer.lr", "static"):
        assert importlib.import_module(f"paddle.{name}") is importlib.import_module(f"engine.{name}")
    assert sys.modules["paddle.nn"] is sys.modules["engine.nn"]


def test_the_engine_loads_nothing_that_reads_resources() -> None:
    """The classes of importlib.abc would: a twentieth of the time to import the engine."""
    code = "import engine, sys; print(*{'importlib.abc', 'importlib.resources', 'tempfile'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_paddleslim_is_the_engines_slim(paddle: object) -> None:
    slim = importlib.import_module("paddleslim")
    assert slim is engine.slim
    assert importlib.import_module("paddleslim.quant") is engine.slim.quant
    assert importlib.import_module("paddleslim.models.mobilenet") is engine.slim.models.mobilenet
    assert slim.__version__ == "2.6.0"
    assert (alias.alias_name("engine.slim.quant"), alias.real_name("paddleslim")) == (
        "paddleslim.quant",
        "engine.slim",
    )
    assert alias.real_name("paddleslimmer.quant") == "paddleslimmer.quant"


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
        (
            "from paddleslim.models import Mobilenet",
            "paddleslim.models.Mobilenet",
            "did you mean paddleslim.models.MobileNet?",
        ),
        ("import paddleslim.modls", "paddleslim.modls", "did you mean paddleslim.models?"),
        ("import paddle.zzzz.qqqq", "paddle.zzzz", "docs/api.md lists all names"),
    ],
)
def test_an_error_for_a_missing_name_suggests_a_similar_one(
    paddle: object, code: str, name: str, remedy: str
) -> None:
    with pytest.raises((AttributeError, ImportError)) as raised:
        exec(code, {})
    assert (message_for(raised.value) or "").startswith(f"{name}: the engine has no such name; {remedy}")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("from paddleslim.nas import SANAS", "paddleslim.nas: is absent: it searches for networks"),
        ("import paddleslim; paddleslim.prune", "paddleslim.prune: is absent: it cuts networks smaller"),
        (
            "from paddleslim.quant import quant_post_hpo",
            "paddleslim.quant.quant_post_hpo: is absent",
        ),
        ("import paddle.static as s; s.IpuStrategy()", "paddle.static.IpuStrategy: is absent: it is for"),
    ],
)
def test_an_error_for_a_name_absent_on_purpose_has_the_reason(
    paddle: object, code: str, message: str
) -> None:
    with pytest.raises((AttributeError, ImportError)) as raised:
        exec(code, {})
    assert (message_for(raised.value) or "").startswith(message)
    if isinstance(raised.value, AttributeError):
        assert str(raised.value).startswith(message)


def test_names_listed_as_absent_are_absent() -> None:
    for module, names in ABSENT.items():
        found = importlib.import_module(alias.real_name(module))
        assert [name for name in names if hasattr(found, name)] == []


@pytest.mark.parametrize("code", ["import zzzz", "[].x", "from os import zz", "1 / 0", "import os; os.zzzz"])
def test_other_errors_are_not_about_the_engine(code: str) -> None:
    with pytest.raises(Exception) as raised:
        exec(code, {})
    assert message_for(raised.value) is None


@pytest.mark.parametrize(
    ("path", "name", "public"),
    [
        ("paddle.nn.layer.common", "Dropout", "paddle.nn"),
        ("paddle.nn.layer.loss", "MSELoss", "paddle.nn"),
        ("paddle.nn.loss", "MSELoss", "paddle.nn"),
        ("paddle.nn.initializer.constant", "Constant", "paddle.nn.initializer"),
        ("paddle.nn.utils.weight_norm_hook", "weight_norm", "paddle.nn.utils"),
        ("paddle.nn.functional.common", "dropout", "paddle.nn.functional"),
        ("paddle.nn.functional.flash_attention", "scaled_dot_product_attention", "paddle.nn.functional"),
        ("paddle.tensor.math", "frexp", "paddle"),
        ("paddle.tensor.stat", "std", "paddle"),
        ("paddle.tensor.einsum", "einsum", "paddle"),
        ("paddle.base.framework", "set_flags", "paddle"),
        ("paddle.base.executor", "Executor", "paddle.static"),
        ("paddle.framework.io", "save", "paddle"),
        ("paddle.optimizer.adamw", "AdamW", "paddle.optimizer"),
        ("paddle.io.dataloader.dataset", "Dataset", "paddle.io"),
        ("paddle.autograd.py_layer", "PyLayer", "paddle.autograd"),
        ("paddle.static.input", "InputSpec", "paddle.static"),
        ("paddle.common_ops_import", "Variable", "paddle.static"),
        ("paddle.hapi.model_summary", "summary", "paddle"),
        ("paddle.compat", "to_text", "paddle.fluid.compat"),
    ],
)
def test_inner_paths_have_the_public_names(paddle: object, path: str, name: str, public: str) -> None:
    inner = importlib.import_module(path)
    assert getattr(inner, name) is getattr(importlib.import_module(public), name)
    owner, _, own = path.rpartition(".")
    assert getattr(importlib.import_module(owner), own) is inner


def test_a_function_called_like_its_module_stays_a_function(paddle: object) -> None:
    inner = importlib.import_module("paddle.tensor.einsum")
    x = engine.ones([2, 3])
    assert inner("ij->ji", x).shape == inner.einsum("ij->ji", x).shape == [3, 2]


class _Held:
    """Something that a caller holds."""


def test_an_error_for_a_missing_name_does_not_hold_the_callers_objects(paddle: object) -> None:
    """Imports ask for ``__path__``: workers of a DataLoader would run until the next garbage collection."""

    def held() -> weakref.ref[_Held]:
        mine = _Held()
        with suppress(AttributeError):
            _ = engine.io.worker.__path__
        return weakref.ref(mine)

    gc.disable()
    try:
        assert held()() is None
    finally:
        gc.enable()


def test_names_that_inner_paths_lack_too(paddle: object) -> None:
    with pytest.raises(AttributeError, match=r"'engine.base' has no attribute 'nothing'"):
        getattr(importlib.import_module("paddle.base"), "nothing")  # noqa: B009
    with pytest.raises(ImportError, match="Dropuot"):
        exec("from paddle.nn.layer.common import Dropuot", {})
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("paddle.tensor.nothing")


def test_core_and_the_checks_of_arguments(paddle: object) -> None:
    core = importlib.import_module("paddle.base.core")
    feeder = importlib.import_module("paddle.base.data_feeder")
    assert importlib.import_module("paddle.framework").core is core
    assert core.VarDesc.VarType.FP32 is engine.float32
    assert str(core.VarDesc.VarType.LOD_TENSOR) == "VarType.LOD_TENSOR"
    assert isinstance(engine.ones([1]), core.eager.Tensor)
    x = engine.ones([2])
    assert feeder.convert_dtype(x.dtype) == "float32"
    feeder.check_variable_and_dtype(x, "x", ["float32", "float64"], "relu")
    with pytest.raises(TypeError, match=r"'x' in relu must be .*int64.*received float32"):
        feeder.check_variable_and_dtype(x, "x", ["int64"], "relu")
    with pytest.raises(TypeError, match="'axis' in sum must be"):
        feeder.check_type("a", "axis", (int, list), "sum")
    with pytest.raises(TypeError, match="must be a Tensor or Variable"):
        feeder.check_variable_and_dtype([1.0], "x", ["float32"], "relu")
