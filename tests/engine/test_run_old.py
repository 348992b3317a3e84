"""The runner and scripts of Paddle 1.x: the mode they start in, the device, Pillow's old names, modules."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import engine
from engine import run
from engine.core.place import REDIRECT, CPUPlace, CUDAPlace, as_place

STATIC = """import paddle.fluid as fluid
x = fluid.layers.data(name="x", shape=[2], dtype="float32")
y = fluid.layers.reduce_sum(x)
exe = fluid.Executor(fluid.CUDAPlace(0))
exe.run(fluid.default_startup_program())
import numpy as np
print(exe.run(fluid.default_main_program(), feed={"x": np.ones((3, 2), "float32")}, fetch_list=[y])[0])
"""
MODE = "import paddle.fluid as fluid\nprint('dynamic' if fluid.in_dygraph_mode() else 'static')\n"
NEW = MODE + "import paddle\npaddle.to_tensor\n"


@pytest.fixture(autouse=True)
def left_as_it_was(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)  # pytest-qt has its own
    monkeypatch.setenv(REDIRECT, "")
    programs = engine.static.program_guard(engine.static.Program(), engine.static.Program())
    with programs:
        yield
    engine.disable_static()


def out(capsys: pytest.CaptureFixture[str], source: str, *options: str) -> str:
    Path("script.py").write_text(source)
    status = run.main([*options, "script.py"])
    shown = capsys.readouterr()
    assert status == 0, shown.err
    return shown.out.strip()


@pytest.mark.parametrize(
    ("source", "options", "mode"),
    [
        (MODE, (), "static"),
        (MODE, ("--mode", "dynamic"), "dynamic"),
        (NEW, (), "dynamic"),
        (NEW, ("--mode=static",), "static"),
    ],
)
def test_which_mode_a_script_starts_in(
    source: str, options: tuple[str, ...], mode: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert out(capsys, source, *options) == mode


def test_a_gpu_that_is_not_there_is_an_error_that_names_the_switch_which_runs_on_the_cpu(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "engine.kernels.cupy", None)  # as where CuPy is not installed
    Path("script.py").write_text(STATIC)
    assert run.main(["script.py"]) == 1
    assert "`model-studio run --device cpu` (MODEL_STUDIO_DEVICE=cpu)" in capsys.readouterr().err
    with engine.static.program_guard(engine.static.Program(), engine.static.Program()):
        engine.disable_static()
        assert out(capsys, STATIC, "--device", "cpu") == "[6.]"
    assert os.environ[REDIRECT] == "cpu"  # processes that it starts see it too


def test_with_the_switch_a_gpus_place_is_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    assert as_place(CUDAPlace(1)) == CUDAPlace(1)
    monkeypatch.setenv(REDIRECT, "cpu")
    assert as_place(CUDAPlace(1)) == as_place("gpu:1") == CPUPlace()
    assert engine.fluid.core.get_cuda_device_count() == 1
    assert engine.to_tensor([1.0], place=CUDAPlace(0)).place == CPUPlace()
    assert len(engine.static.cuda_places([0, 1])) == 2
    with engine.fluid.dygraph.guard(CUDAPlace(0)):
        assert engine.get_device() == "cpu"
    monkeypatch.setenv(REDIRECT, "gpu")
    with pytest.raises(ValueError, match="MODEL_STUDIO_DEVICE: 'gpu'"):
        as_place("gpu")


def test_pillows_old_names_are_there_for_the_script(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    image: Any = pytest.importorskip("PIL.Image")
    for name in ("ANTIALIAS", "LINEAR", "CUBIC"):
        monkeypatch.setattr(image, name, 0, raising=False)
        monkeypatch.delattr(image, name)
    said = out(capsys, "from PIL import Image\nprint(Image.ANTIALIAS == Image.LANCZOS)\n")
    assert said == "True"
    monkeypatch.delattr(image, "ANTIALIAS")
    said = out(capsys, "import paddle.fluid\nfrom PIL import Image\nprint(Image.CUBIC == Image.BICUBIC)")
    assert said == "True"


def test_a_module_is_run_as_python_does(capsys: pytest.CaptureFixture[str]) -> None:
    Path("package").mkdir()
    Path("package/__init__.py").touch()
    Path("package/train.py").write_text("import sys\n" + MODE + "print(sys.argv[1:], __name__)\n")
    assert run.main(["-m", "package.train", "--lr", "-m"]) == 0
    assert capsys.readouterr().out == "static\n['--lr', '-m'] __main__\n"
    assert run.main(["-m", "package"]) == 2
    assert run.main(["-m", "nothing.of.this.name"]) == 2
    assert "there is no module nothing.of.this.name" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--mode", "eager", "x.py"], "'eager'"),
        (["--device=tpu", "x.py"], "'tpu'"),
        (["--mode"], "''"),
        ([], "usage:"),
        (["-m"], "usage:"),
    ],
)
def test_wrong_use(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run.main(words) == 2
    assert said in capsys.readouterr().err
