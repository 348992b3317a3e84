"""paddle.onnx.export: files that ONNX Runtime and the reference evaluator run, and what is refused."""

from __future__ import annotations

import builtins
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.core.errors import ArgumentError, MissingExtraError
from engine.static import InputSpec
from engine.vision.models import LeNet
from tests.engine.onnx.runs import apart, by_reference, by_runtime, read

ROW = InputSpec([None, 4], "float32", "x")


def _rows(count: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(count).standard_normal((count, *shape)).astype(np.float32)


def _difference(path: Path, layer: Any, feed: dict[str, np.ndarray]) -> float:
    model = read(f"{path}.onnx")
    with paddle.no_grad():
        results = layer(*(paddle.to_tensor(value) for value in feed.values()))
    wanted = [r.numpy() for r in (results if isinstance(results, tuple | list) else [results])]
    return max(apart(run(model, feed), wanted) for run in (by_runtime, by_reference))


def test_lenet_with_the_names_of_its_author(tmp_path: Path) -> None:
    net = LeNet()
    net.eval()
    path = tmp_path / "new" / "lenet"
    paddle.onnx.export(net, str(path), [InputSpec([None, 1, 28, 28], "float32", "image")])
    for count in (1, 3):
        assert _difference(path, net, {"image": _rows(count, 1, 28, 28)}) < 1e-5
    model = read(f"{path}.onnx")
    (image,) = model.graph.input
    assert [d.dim_param or d.dim_value for d in image.type.tensor_type.shape.dim] == ["batch", 1, 28, 28]
    assert (model.opset_import[0].version, model.ir_version) == (17, 8)
    weights = sum(p.numpy().nbytes for p in net.parameters())
    assert path.with_suffix(".onnx").stat().st_size < weights + 64_000
    assert all("test_export.py" in node.doc_string or "lenet" in node.doc_string for node in model.graph.node)


class Branches(nn.Layer):
    """A branch, a loop, and a list that grows in it."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        if paddle.sum(x) > 0:
            x = self.linear(x)
        else:
            x = x - 1
        steps = []
        i = paddle.zeros([1], "int64")
        while i < 3:
            x = paddle.tanh(x) * 2
            steps.append(x)
            i = i + 1
        return paddle.stack(steps), x


def test_branches_loops_and_lists_that_grow(tmp_path: Path) -> None:
    net = Branches()
    path = tmp_path / "branches"
    paddle.onnx.export(net, str(path), [ROW])
    for sign in (1, -1):
        assert _difference(path, net, {"x": sign * np.abs(_rows(2, 4))}) < 1e-5


def test_a_saved_model_and_a_newer_opset(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    net = nn.Sequential(nn.Linear(4, 3), nn.Softmax())
    paddle.jit.save(net, str(tmp_path / "saved"), [ROW])
    with caplog.at_level(logging.INFO):
        paddle.onnx.export(str(tmp_path / "saved"), str(tmp_path / "nine"))
        paddle.onnx.export(str(tmp_path / "saved"), str(tmp_path / "newer"), opset_version=18)
    assert [r.message for r in caplog.records if "opset" in r.message] == [
        "onnx.export: opset 17 is written in place of 9"
    ]
    for name, opset in (("nine", 17), ("newer", 18)):
        assert read(tmp_path / f"{name}.onnx").opset_import[0].version == opset
        assert _difference(tmp_path / name, net, {"x": _rows(2, 4)}) < 1e-5


def test_metadata(tmp_path: Path) -> None:
    paddle.onnx.export(nn.Linear(4, 3), str(tmp_path / "m"), [ROW], metadata={"classes": '["a", "b"]'})
    found = {each.key: each.value for each in read(tmp_path / "m.onnx").metadata_props}
    assert found == {"classes": '["a", "b"]'}


def test_models_that_can_not_be_written_leave_no_file(tmp_path: Path) -> None:
    path = str(tmp_path / "m")
    with pytest.raises(ArgumentError, match=r"dropout.*in the mode for training.*call eval\(\)"):
        paddle.onnx.export(nn.Sequential(nn.Linear(4, 4), nn.Dropout()), path, [ROW])

    class Inverse(nn.Layer):
        def forward(self, x: Any) -> Any:
            return paddle.linalg.svd(x)[0]

    with pytest.raises(
        ArgumentError, match=r"ONNX can't express.*\n  svd \(ONNX has no .*\): .*test_export.py"
    ):
        paddle.onnx.export(Inverse(), path, [ROW])
    with pytest.raises(ArgumentError, match="opsets from 9 on"):
        paddle.onnx.export(nn.Linear(4, 3), path, [ROW], opset_version=8)
    with pytest.raises(ArgumentError, match="knows opsets up to"):
        paddle.onnx.export(nn.Linear(4, 3), path, [ROW], opset_version=999)
    with pytest.raises(ArgumentError, match="no file name"):
        paddle.onnx.export(nn.Linear(4, 3), f"{tmp_path}/", [ROW])
    assert list(tmp_path.iterdir()) == []


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def absent(name: str, *rest: Any) -> Any:
        if name.split(".")[0] == "onnx":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(MissingExtraError, match=r"pip install 'model-studio\[onnx\]'"):
        paddle.onnx.export(nn.Linear(4, 3), str(tmp_path / "m"), [ROW])


class Two(nn.Layer):
    def forward(self, x: Any, y: Any) -> Any:
        a, b = x * 3 + 1, y * 2 + 1
        return paddle.matmul(a, paddle.transpose(b, [1, 0])) - 1, a * 2, b * 2


def test_inputs_of_several_sizes(tmp_path: Path) -> None:
    path = tmp_path / "two"
    net = Two()
    paddle.onnx.export(net, str(path), [ROW, InputSpec([None, 4], "float32", "y")])
    assert _difference(path, net, {"x": _rows(3, 4), "y": _rows(1, 4)}) < 1e-5


@pytest.fixture
def static_mode() -> Iterator[None]:
    paddle.enable_static()
    yield
    paddle.disable_static()


def test_a_static_program_without_recorded_outputs(tmp_path: Path, static_mode: None) -> None:
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [None, 4])
        label = paddle.static.data("label", [None, 1], "int64")
        scores = nn.functional.softmax(paddle.static.nn.fc(x, 3, name="scores"))
        loss = paddle.mean(nn.functional.cross_entropy(scores, label))
        paddle.optimizer.SGD(0.1).minimize(loss)
    executor = paddle.static.Executor()
    executor.run(startup)
    feed = {"x": _rows(3, 4), "label": np.array([[0], [2], [1]])}
    test = main.clone(for_test=True)
    for name, configs, fed, wanted in (
        ("all", {}, ["label", "x"], loss),
        ("scores", {"output_spec": [scores]}, ["x"], scores),
    ):
        path = tmp_path / name
        paddle.onnx.export(main, str(path), **configs)
        model = read(f"{path}.onnx")
        assert sorted(each.name for each in model.graph.input) == fed
        given = {key: feed[key] for key in fed}
        assert apart(by_runtime(model, given), executor.run(test, feed=feed, fetch_list=[wanted])) < 1e-5
    with pytest.raises(ArgumentError, match=r"output_spec names .*, which the Program"):
        paddle.onnx.export(main, str(tmp_path / "none"), output_spec=["none"])
