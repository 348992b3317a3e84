"""State dicts and nests that Paddle pickled, and those that are written for it."""

from __future__ import annotations

import base64
import io
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError, FormatError
from engine.files.untrusted import guarded

FOLDER = Path(__file__).with_name("recorded")
VERSIONS = ("2.6.2", "3.3.1")


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are not read by a child process first, which test_torch_weights.py checks."""
    monkeypatch.setattr(guarded, "_is_child", True)


class LeNet(paddle.nn.Layer):
    """That of make_paddle_weights.py."""

    def __init__(self) -> None:
        super().__init__()
        nn = paddle.nn
        self.features = nn.Sequential(
            nn.Conv2D(1, 3, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2), nn.Conv2D(3, 4, 3), nn.BatchNorm2D(4)
        )
        self.fc = nn.Sequential(nn.Linear(64, 8), nn.ReLU(), nn.Linear(8, 3))

    def forward(self, x: Any) -> Any:
        return self.fc(paddle.flatten(self.features(x), 1))


def train(net: Any, optimizer: Any, schedule: Any, steps: range) -> list[float]:
    losses = []
    for step in steps:
        draw = np.random.RandomState(step)
        x, y = draw.rand(8, 1, 12, 12).astype("float32"), draw.randint(0, 3, [8, 1])
        loss = paddle.nn.functional.cross_entropy(net(paddle.to_tensor(x)), paddle.to_tensor(y))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        schedule.step()
        losses.append(float(loss))
    return losses


def new_training() -> tuple[Any, Any, Any]:
    with paddle.utils.unique_name.guard():
        net = LeNet()
        schedule = paddle.optimizer.lr.StepDecay(0.01, step_size=2, gamma=0.5)
        return net, paddle.optimizer.Adam(schedule, parameters=net.parameters()), schedule


@pytest.mark.parametrize("version", VERSIONS)
def test_training_of_paddle_is_continued(version: str) -> None:
    net, optimizer, schedule = new_training()
    state = paddle.load(FOLDER / f"lenet-{version}.pdparams")
    assert state["fc.0.weight"].name == "linear_0.w_0"
    assert net.set_state_dict(state) == ([], [])
    optimizer.set_state_dict(paddle.load(FOLDER / f"lenet-{version}.pdopt"))
    with np.load(FOLDER / f"lenet-{version}-losses.npz") as expected:
        losses = expected["losses"]
    np.testing.assert_allclose(train(net, optimizer, schedule, range(3, 6)), losses, rtol=0, atol=1e-6)


def test_training_goes_through_the_format_of_paddle(tmp_path: Path) -> None:
    net, optimizer, schedule = new_training()
    train(net, optimizer, schedule, range(3))
    paddle.save(net.state_dict(), str(tmp_path / "m.pdparams"), format="paddle")
    paddle.save(optimizer.state_dict(), str(tmp_path / "m.pdopt"), protocol=2, format="paddle")
    losses = train(net, optimizer, schedule, range(3, 6))
    other, its_optimizer, its_schedule = new_training()
    other.set_state_dict(paddle.load(str(tmp_path / "m.pdparams")))
    its_optimizer.set_state_dict(paddle.load(str(tmp_path / "m.pdopt")))
    assert train(other, its_optimizer, its_schedule, range(3, 6)) == losses


@pytest.mark.parametrize("protocol", [2, 3, 4])
@pytest.mark.parametrize("version", VERSIONS)
def test_nests_of_paddle(version: str, protocol: int) -> None:
    """Named tensors become Tensors; then arrays stay arrays."""
    found = paddle.load(FOLDER / f"nest-{version}-p{protocol}.pd")
    assert found["list"][0].tolist() == [0, 1, 2]
    assert found["list"][0].name.startswith(("eager_tmp", "generated"))
    assert found["list"][1:] == [2.5, None, True, "é"]
    first, rest = found["tuple"]
    assert (first.dtype, first.astype("float32").tolist()) == (paddle.bfloat16, [[1, 1], [1, 1]])
    assert (rest["deeper"].dtype, rest["deeper"].shape, rest["deeper"].item()) == (paddle.int8, [], 7)
    assert np.array_equal(found["array"], np.arange(6.0).reshape(2, 3))
    assert found["number"] == np.float32(2.5)


@pytest.mark.parametrize("version", VERSIONS)
def test_single_tensors_and_slices_of_paddle(version: str) -> None:
    assert paddle.load(FOLDER / f"tensor-{version}.pd").tolist() == [1, 1]
    slices = FOLDER / f"slices-{version}.pdparams"
    assert b"weight@@.1" in slices.read_bytes()
    assert paddle.load(slices)["weight"].tolist() == np.arange(18).reshape(9, 2).tolist()


@pytest.fixture
def static_mode() -> Iterator[None]:
    paddle.enable_static()
    yield
    paddle.disable_static()


@pytest.mark.usefixtures("static_mode")
@pytest.mark.parametrize("version", VERSIONS)
def test_program_of_paddle_is_trained_further(version: str) -> None:
    """``static.load`` of what Paddle's ``static.save`` wrote."""
    static = paddle.static
    program, startup = static.Program(), static.Program()
    with static.program_guard(program, startup), paddle.utils.unique_name.guard():
        x, y = static.data("x", [None, 4]), static.data("y", [None, 1])
        loss = paddle.mean(paddle.square(static.nn.fc(x, 1) - y))
        paddle.optimizer.Adam(0.1).minimize(loss)
    losses = []
    with static.scope_guard(static.Scope()):
        executor = static.Executor()
        executor.run(startup)
        static.load(program, str(FOLDER / f"static-{version}"))
        for step in range(3, 6):
            draw = np.random.RandomState(step)
            feed = {"x": draw.rand(8, 4).astype("float32"), "y": draw.rand(8, 1).astype("float32")}
            losses += executor.run(program, feed=feed, fetch_list=[loss])
    with np.load(FOLDER / f"static-{version}-losses.npz") as expected:
        np.testing.assert_allclose(losses, expected["losses"], rtol=0, atol=1e-6)


def test_model_of_paddle_loads_both_files(tmp_path: Path) -> None:
    """``paddle.Model.load`` too: names decide what belongs to the optimizer."""
    net, optimizer, _ = new_training()
    model = paddle.Model(net)
    model.prepare(optimizer, paddle.nn.CrossEntropyLoss())
    model.load(str(FOLDER / "lenet-2.6.2"))
    assert optimizer.get_lr() == 0.005
    weight = paddle.load(FOLDER / "lenet-2.6.2.pdparams")["fc.0.weight"]
    assert np.array_equal(net.fc[0].weight.numpy(), weight.numpy())


def test_options_of_load() -> None:
    path = FOLDER / "slices-2.6.2.pdparams"
    arrays = paddle.load(path, return_numpy=True)
    assert type(arrays["bias"]) is np.ndarray
    assert list(arrays) == ["bias", "weight"]
    table = paddle.load(path, keep_name_table=True)["StructuredToParameterName@@"]
    assert table == {"weight": "linear_2.w_0", "bias": "linear_2.b_0"}


def test_pickles_in_a_bytesio_follow_one_another() -> None:
    stored = io.BytesIO()
    paddle.save({"w": paddle.ones([2])}, stored, format="paddle")
    paddle.save({"step": 3}, stored)
    paddle.save(paddle.zeros([1]), stored, format="paddle")
    stored.seek(0)
    assert paddle.load(stored)["w"].tolist() == [1, 1]
    assert paddle.load(stored) == {"step": 3}
    assert paddle.load(stored).tolist() == [0]


# paddlepaddle 2.6.2 and 3.3.1 load these bytes: {"w": Tensor "w_0" [1, -2]} and [Tensor "t" 3, 2.5].
WRITTEN = (
    "gAR9KIwBd4wVbnVtcHkuY29yZS5tdWx0aWFycmF5jAxfcmVjb25zdHJ1Y3STjAVudW1weYwHbmRhcnJheZNLAIVDAWKHUihL"
    "AShLAnSMBW51bXB5jAVkdHlwZZMojAJmNImIdFIoSwOMATxOTk5K/////0r/////SwB0YolDCAAAgD8AAADAdGKMG1N0cnVj"
    "dHVyZWRUb1BhcmFtZXRlck5hbWVAQH0ojAF3jAN3XzB1dS4=",
    "gARdKIwIYnVpbHRpbnOMBXR1cGxlkygojAF0jBVudW1weS5jb3JlLm11bHRpYXJyYXmMDF9yZWNvbnN0cnVjdJOMBW51bXB5"
    "jAduZGFycmF5k0sAhUMBYodSKEsBKHSMBW51bXB5jAVkdHlwZZMojAJpOImIdFIoSwOMATxOTk5K/////0r/////SwB0YolD"
    "CAMAAAAAAAAAdGJ0dFJHQAQAAAAAAABlLg==",
)


def test_written_bytes_are_those_that_paddle_loaded() -> None:
    weight, value = paddle.to_tensor([1.0, -2.0]), paddle.to_tensor(3)
    weight.name, value.name = "w_0", "t"
    state, nest = io.BytesIO(), io.BytesIO()
    paddle.save({"w": weight}, state, format="paddle")
    paddle.save([value, 2.5], nest, format="paddle")
    assert (state.getvalue(), nest.getvalue()) == tuple(map(base64.b64decode, WRITTEN))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"w": np.ones(1), "StructuredToParameterName@@": [1]}, "its table of names"),
        (
            {"UnpackBigParamInfor@@": {"w": {"slices": ["absent"]}}},
            "its table of slices",
        ),
    ],
)
def test_damaged_tables_are_refused(tmp_path: Path, content: Any, reason: str) -> None:
    path = tmp_path / "w.pdparams"
    path.write_bytes(pickle.dumps(content, 4))
    with pytest.raises(FormatError, match=rf"w\.pdparams: {reason}"):
        paddle.load(str(path))


def test_objects_that_paddle_can_not_hold_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="a Program has no pickle"):
        paddle.save([paddle.static.Program()], str(tmp_path / "x"), format="paddle")
    with pytest.raises(ArgumentError, match="must be one of native, paddle, safetensors, npz: got 'torch'"):
        paddle.save({}, str(tmp_path / "x"), format="torch")
    assert list(tmp_path.iterdir()) == []
