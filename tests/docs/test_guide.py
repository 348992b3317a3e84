"""The examples of the guide run unchanged; those of a page one after the other."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import engine as paddle
from engine import static
from engine.core import names
from engine.files.untrusted import guarded

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "guide"


def test_the_page_on_static_graphs_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (GUIDE / "static-graphs.md").read_text("utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {}
    try:
        programs = static.program_guard(static.Program(), static.Program())
        with names.guard(), programs, static.scope_guard(static.Scope()):
            for block in blocks:
                exec(block, scope)
    finally:
        paddle.disable_static()
    assert sorted(str(p.relative_to(tmp_path)) for p in tmp_path.glob("*/*")) == [
        "checkpoint/lenet.pdmodel",
        "checkpoint/lenet.pdopt",
        "checkpoint/lenet.pdparams",
        "inference/lenet.pdiparams",
        "inference/lenet.pdiparams.info",
        "inference/lenet.pdmodel",
    ]
    assert len(paddle.jit.load("inference/lenet").info["classes"]) == 10


def test_the_page_on_threads_runs() -> None:
    (block,) = re.findall(r"```python\n(.*?)```", (GUIDE / "threads.md").read_text("utf-8"), re.DOTALL)
    scope: dict[str, Any] = {}
    exec(block, scope)
    adam, net = scope["adam"], scope["net"]
    power = adam.state_dict()[f"{net.weight.name}_beta1_pow_acc_0"].numpy()
    assert power == pytest.approx(0.9**4)  # three steps
    assert not net.weight.grad.numpy().any()


def test_the_page_on_formats_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (GUIDE / "model-formats.md").read_text("utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {}
    for block in blocks:
        exec(block, scope)
    assert [path.name for path in tmp_path.iterdir()] == ["flowers.h5"]
    assert capsys.readouterr().out == "['a', 'b', 'c'] [1, 3]\n['features']\n"


def test_the_page_on_comparing_models_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", (GUIDE / "compare-models.md").read_text("utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {}
    exec(block, scope)
    assert capsys.readouterr().out == f"False {scope['net'].bias.name} 0.5\n"


def test_the_page_on_onnx_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnx", reason="needs the extra onnx")
    blocks = re.findall(r"```python\n(.*?)```", (GUIDE / "onnx.md").read_text("utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {}
    for block in blocks:
        exec(block, scope)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".info", ".onnx", ".pdiparams", ".pdmodel"]
    assert all(parameter.grad is not None for parameter in scope["model"].parameters())


def test_the_page_on_weights_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (GUIDE / "weights.md").read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(guarded, "_is_child", True)
    scope: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(block, scope)
    printed = capsys.readouterr().out.strip()
    assert f"prints `{printed}`" in page
    assert scope["net"][0].weight.tolist()[0] == [0, 4, 8, 12]


def test_the_code_that_explains_a_model_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", (GUIDE / "explain.md").read_text("utf-8"), re.DOTALL)
    exec(block, {})
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("(1, 1, 28, 28) ")
    assert lines[2].startswith("conv2d features.0 (1, 6, 28, 28) ")


@pytest.mark.parametrize(
    ("page", "printed", "written"),
    [
        (
            GUIDE / "library.md",
            r"(\d+ [\d.]+ [\d.]+\n)+",
            ["inference_model/lenet.pdmodel", "lenet.pdparams"],
        ),
        (GUIDE / "your-own-model.md", r"(?s)def forward.*", ["out/small.pdiparams", "out/small.pdmodel"]),
    ],
    ids=["library", "your-own-model"],
)
def test_a_page_is_one_script(page: Path, printed: str, written: list[str], tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    # The test digits are a fifth of those for training, and one pass over them shows the same.
    script = "\n".join(blocks).replace('Digits(mode="train"', 'Digits(mode="test"')
    (tmp_path / "page.py").write_text(script, "utf-8")
    done = subprocess.run(
        [sys.executable, "page.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(printed, done.stdout), done.stdout
    assert all((tmp_path / name).is_file() for name in written)
