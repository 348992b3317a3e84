"""The command diff: its output, its JSON and its exit status."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

import engine as paddle
from engine import nn
from studio.cli import app


def saved(path: Path, seed: int, **configs: object) -> str:
    paddle.seed(seed)
    spec = paddle.static.InputSpec([None, 3], "float32", "x")
    paddle.jit.save(nn.Linear(3, 2), str(path), [spec], **configs)
    return str(path)


def test_two_models_that_differ(tmp_path: Path) -> None:
    a = saved(tmp_path / "a", 1, info={"classes": ["no", "yes"]})
    b = saved(tmp_path / "b", 2, info={"classes": ["no", "[bold]yes"]}, format="packed")
    done = CliRunner().invoke(app, ["diff", a, b])
    assert done.exit_code == 3, done.output
    assert "float32 [3, 2]" in done.stdout
    assert "[bold]yes" in done.stdout
    found = json.loads(CliRunner().invoke(app, ["diff", a, b, "--json"]).stdout)
    assert (found["a"], found["equal"]) == (a, False)
    assert found["information"][0]["name"] == "classes"
    assert found["weights"][0]["shape"] == [[3, 2], [3, 2]]


def test_two_models_that_do_not(tmp_path: Path) -> None:
    a, b = saved(tmp_path / "a", 1), saved(tmp_path / "b", 1)
    done = CliRunner().invoke(app, ["diff", a, a])
    assert (done.exit_code, done.stdout) == (0, "no difference: 2 operators and 2 weights are equal\n")
    assert CliRunner().invoke(app, ["diff", a, b]).exit_code == 0, "layers of other names, the same numbers"


class Net(nn.Layer):
    """A convolution with batch norm, and a dropout."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm, self.drop = nn.Conv2D(1, 2, 3), nn.BatchNorm2D(2), nn.Dropout(0.5)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.drop(paddle.nn.functional.relu(self.norm(self.conv(x))))


def network(path: Path, training: bool) -> str:
    layer = Net()
    if not training:
        layer.eval()
    paddle.jit.save(layer, str(path), [paddle.static.InputSpec([None, 1, 8, 8], "float32", "x")])
    return str(path)


def test_training_against_inference(tmp_path: Path) -> None:
    path = network(tmp_path / "a", training=True)
    done = CliRunner().invoke(app, ["diff", path, "--training", "--json"])
    assert done.exit_code == 3, done.output
    found = json.loads(done.stdout)
    assert [(each["kind"], each["type"], each["layer"]) for each in found["operators"]] == [
        ("changed", "batch_norm", "norm"),
        ("changed", "dropout", "drop"),
    ]
    assert found["operators"][0]["details"] == [
        {"what": "attribute", "name": "is_test", "a": False, "b": True}
    ]
    inference = network(tmp_path / "b", training=False)
    assert CliRunner().invoke(app, ["diff", inference, "--training"]).exit_code == 0


def test_each_pass(tmp_path: Path) -> None:
    path = network(tmp_path / "a", training=False)
    done = CliRunner().invoke(app, ["diff", path, "--passes", "--level", "2", "--json"])
    assert done.exit_code == 3, done.output
    passes = {each["name"]: each["operators"] for each in json.loads(done.stdout)["passes"]}
    assert ("removed", "batch_norm") in {(each["kind"], each["type"]) for each in passes["fold_batch_norms"]}
    assert {each["type"] for each in passes["fuse_convolutions"]} >= {"relu", "conv2d_fusion"}
    shown = CliRunner().invoke(app, ["diff", path, "--passes"])
    assert "fold_constants: nothing changed" in shown.stdout
    assert "fold_batch_norms" not in shown.stdout, "a pass of level 2"


def test_the_text_has_a_line_for_each_operator_that_differs(tmp_path: Path) -> None:
    a, b = network(tmp_path / "a", training=True), network(tmp_path / "b", training=False)
    done = CliRunner().invoke(app, ["diff", a, b, "--text"])
    assert done.exit_code == 3, done.output
    marks = [(line[0], line.partition(" = ")[2].partition("(")[0]) for line in done.stdout.splitlines()]
    assert marks == [
        (" ", "conv2d"), (" ", "reshape2"), (" ", "elementwise_add"),
        ("-", "batch_norm"), ("+", "batch_norm"), (" ", "relu"), ("-", "dropout"), ("+", "dropout"),
    ]  # fmt: skip


def test_the_text_of_equal_operators_does_not_hide_other_weights(tmp_path: Path) -> None:
    a, b = saved(tmp_path / "a", seed=0), saved(tmp_path / "b", seed=1)
    done = CliRunner().invoke(app, ["diff", a, b, "--text"])
    assert done.exit_code == 3, done.output
    assert "no difference" not in done.stdout
    assert "operators are equal" in done.stdout
    assert "weights (" in done.stdout
    same = CliRunner().invoke(app, ["diff", a, a, "--text"])
    assert same.exit_code == 0, same.output
    assert same.stdout.startswith("no difference: ")


def test_a_program_of_static_save_and_the_export_of_a_run(tmp_path: Path) -> None:
    from engine import static

    main = static.Program()
    paddle.enable_static()
    try:
        with static.program_guard(main, static.Program()):
            x = static.data("x", [None, 4], "float32")
            loss = paddle.mean(static.nn.fc(x, 2))
            paddle.optimizer.SGD(0.1).minimize(loss)
            static.Executor().run(static.default_startup_program())
            static.save(main, str(tmp_path / "state"))
    finally:
        paddle.disable_static()
    done = CliRunner().invoke(app, ["diff", str(tmp_path / "state"), "--training", "--json"])
    assert done.exit_code == 3, done.output
    assert "sgd" in {
        each["type"] for each in json.loads(done.stdout)["operators"] if each["kind"] == "removed"
    }
    assert CliRunner().invoke(app, ["diff", *[str(tmp_path / "state")] * 2]).exit_code == 0
    run = tmp_path / "run"
    (run / "inference").mkdir(parents=True)
    (run / "journal.jsonl").write_text("")
    saved(run / "inference" / "model", 1)
    assert CliRunner().invoke(app, ["diff", str(run), saved(tmp_path / "a", 1)]).exit_code == 0


def test_an_ill_formed_program_is_compared_as_data(tmp_path: Path) -> None:
    from engine.files.packed import read_packed, write_packed

    a = saved(tmp_path / "a", 1, format="packed")
    files = read_packed(tmp_path / "a.h5")
    files.program["blocks"][0]["ops"][1]["inputs"]["X"] = ["none"]
    write_packed(tmp_path / "b.h5", files.program, files.weights, files.info)
    done = CliRunner().invoke(app, ["diff", a, str(tmp_path / "b.h5"), "--json"])
    assert done.exit_code == 3, done.output
    found = json.loads(done.stdout)
    assert found["operators"][0]["details"][0]["b"] == ["none"]
    assert "can't be read" in found["information"][0]["b"]
