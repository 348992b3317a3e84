"""The command graph: its tree, its JSON, and its SVG file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from typer.testing import CliRunner

import engine as paddle
from studio.cli import app

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def lenet(tmp_path_factory: pytest.TempPathFactory) -> str:
    prefix = str(tmp_path_factory.mktemp("saved") / "lenet")
    network = paddle.vision.models.LeNet()
    network.eval()
    paddle.jit.save(network, prefix, [paddle.static.InputSpec([None, 1, 28, 28], "float32", "x")])
    return prefix


def test_a_saved_model_is_printed_as_a_tree(lenet: str) -> None:
    done = CliRunner().invoke(app, ["graph", lenet, "--open", "features.3"])
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0] == "x  (N×1×28×28 float32)"
    assert lines[1] == "features  (10 operators)"
    assert lines[2] == "  features.0  (conv2d + 2)"
    assert "    conv2d  (16×6×5×5)" in lines
    assert "fc  (6 operators)" in lines


def test_json_has_boxes_and_edges(lenet: str) -> None:
    found = json.loads(CliRunner().invoke(app, ["graph", lenet, "--json"]).stdout)
    assert (found["grouped_by"], found["operators"], found["svg"]) == ("layer", 17, None)
    titles = {box["id"]: box["title"] for box in found["boxes"]}
    edges = {(titles[edge["from"]], titles[edge["to"]]): edge["text"] for edge in found["edges"]}
    assert edges["features", "flatten_contiguous_range"] == "N×16×5×5"


def test_the_svg_file_has_the_texts_as_text(lenet: str, tmp_path: Path) -> None:
    path = tmp_path / "lenet.svg"
    done = CliRunner().invoke(app, ["graph", lenet, "--svg", str(path), "--open", "all", "--dark"])
    assert done.exit_code == 0, done.output
    assert "grouped by layer calls" in done.stdout
    texts = [each.text for each in ElementTree.parse(path).iter(f"{SVG}text")]
    assert {"features", "features.1 · relu", "N×16×10×10", "16×6×5×5"} <= set(texts)


def test_a_network_is_traced(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "import engine as paddle\n\n\n"
        "class Net(paddle.nn.Layer):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.body = paddle.nn.Sequential(paddle.nn.Flatten(), paddle.nn.Linear(784, 10))\n\n"
        "    def forward(self, x):\n"
        "        return self.body(x)\n"
    )
    done = CliRunner().invoke(app, ["graph", "--model", f"{tmp_path / 'net.py'}:Net", "--open", "body.1"])
    assert done.exit_code == 0, done.output
    assert "body.1  (matmul_v2 + 1)" in done.stdout
    assert "matmul_v2  (784×10)" in done.stdout


def test_a_network_of_several_inputs_or_for_a_table_is_traced(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "import engine as paddle\n\n\n"
        "class Net(paddle.nn.Layer):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.one, self.two = paddle.nn.Linear(4, 2), paddle.nn.Linear(3, 2)\n\n"
        "    def forward(self, one, two):\n"
        "        return self.one(one) + self.two(two)\n"
    )
    random = np.random.default_rng(0)
    arrays = {name: random.normal(size=(40, n)).astype("float32") for name, n in (("one", 4), ("two", 3))}
    np.savez(tmp_path / "data.npz", y=random.integers(0, 2, 40), **arrays)
    words = ["graph", "--model", f"{tmp_path / 'net.py'}:Net", "--data", str(tmp_path / "data.npz")]
    done = CliRunner().invoke(app, [*words, "--input-name", "one,two", "--label-name", "y"])
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[:2] == ["one  (N×4 float32)", "two  (N×3 float32)"]

    rows = [f"{a:.3f},{b:.3f},{a - b:.3f}" for a, b in random.normal(size=(60, 2))]
    (tmp_path / "table.csv").write_text("\n".join(["a,b,price", *rows]) + "\n")
    words = ["graph", "--model", "mlp", "--data", str(tmp_path / "table.csv"), "--target", "price"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("x  (N×2 float32)")


def test_of_a_run_the_network_or_a_whole_step_is_shown(tmp_path: Path, bars: Path) -> None:
    run = str(tmp_path / "run")
    words = ["train", "--data", str(bars), "--model", "resnet8", "--epochs", "1", "--out", run]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    done = CliRunner().invoke(app, ["graph", run])
    assert done.exit_code == 0, done.output
    assert "linear  (matmul_v2 + 1)" in done.stdout
    done = CliRunner().invoke(app, ["graph", run, "--step", "--json"])
    assert done.exit_code == 0, done.output
    boxes = json.loads(done.stdout)["boxes"]
    top = {phase: {box["path"] for box in boxes if box["phase"] == phase} for phase in ("backward", "update")}
    assert {"conv", "norm", "blocks", "linear", "(loss)"} <= top["backward"]
    assert {"conv", "norm", "blocks", "linear"} == top["update"]


def test_a_file_without_layer_calls_says_what_its_groups_are(tmp_path: Path) -> None:
    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
            x = paddle.static.data("x", [None, 4])
            y = paddle.static.nn.fc(paddle.static.nn.fc(x, 8, activation="relu"), 3)
            run = paddle.static.Executor()
            run.run(paddle.static.default_startup_program())
            paddle.static.save_inference_model(str(tmp_path / "fc"), [x], [y], run)
    finally:
        paddle.disable_static()
    done = CliRunner().invoke(app, ["graph", str(tmp_path / "fc"), "--svg", str(tmp_path / "fc.svg")])
    assert done.exit_code == 0, done.output
    assert "grouped by prefixes of parameter names" in done.stdout


def test_no_qt_is_imported(lenet: str, tmp_path: Path) -> None:
    code = (
        "import sys\nfrom studio.cli import app\n"
        f"app(['graph', {lenet!r}, '--svg', {str(tmp_path / 'a.svg')!r}], standalone_mode=False)\n"
        "assert not [name for name in sys.modules if name.startswith(('PySide6', 'widgets'))]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
