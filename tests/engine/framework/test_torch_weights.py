"""Weights from PyTorch, safetensors and NPZ: nets give the outputs that PyTorch computed."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.core.errors import ArgumentError, DTypeError, FormatError
from engine.files.untrusted import guarded
from engine.nn.layer.base.state import StateReport, TorchState
from engine.vision.models.resnet import BasicBlock

FOLDER = Path(__file__).with_name("recorded")


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are not read by a child process first; one test undoes that."""
    monkeypatch.setattr(guarded, "_is_child", True)


class ResNet(nn.Layer):
    """The nets of make_torch_weights.py."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2D(3, 4, 3, padding=1, bias_attr=False)
        self.bn1 = nn.BatchNorm2D(4)
        self.layer1 = nn.Sequential(BasicBlock(4, 4))
        downsample = nn.Sequential(nn.Conv2D(4, 8, 1, 2, bias_attr=False), nn.BatchNorm2D(8))
        self.layer2 = nn.Sequential(BasicBlock(4, 8, 2, downsample))
        self.up = nn.Conv2DTranspose(8, 4, 3, 2, groups=2)
        self.fc = nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        x = self.layer2(self.layer1(nn.functional.relu(self.bn1(self.conv1(x)))))
        return self.fc(self.up(x).mean([2, 3]))


class Small(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(4, 4)
        self.norm = nn.LayerNorm([3, 4])
        self.instance = nn.InstanceNorm1D(3)
        self.group = nn.GroupNorm(3, 3)
        self.prelu = nn.PReLU(3)
        self.bilinear = nn.Bilinear(4, 4, 4)
        self.attention = nn.MultiHeadAttention(4, 2, kdim=3, vdim=4)
        self.cell = nn.GRUCell(4, 4)

    def forward(self, words: Any) -> Any:
        x = self.prelu(self.group(self.instance(self.norm(self.embed(words)))))
        x = paddle.stack([self.bilinear(x[:, i], x[:, i].flip(1)) for i in range(3)], 1)
        x = self.attention(x, x[:, :, :3], x)
        return self.cell(x[:, 0], x[:, 1])[0]


class Sequences(nn.Layer):
    def __init__(self, kind: type) -> None:
        super().__init__()
        self.rnn = kind(4, 4, 2, direction="bidirect")

    def forward(self, x: Any) -> Any:
        return self.rnn(x)[0]


def encoder() -> Any:
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 2, nn.LayerNorm(4))


NETS: dict[str, tuple[Callable[[], Any], int]] = {
    "resnet": (ResNet, 1),
    "lstm": (lambda: Sequences(nn.LSTM), 0),
    "gru": (lambda: Sequences(nn.GRU), 0),
    "encoder": (encoder, 12),
    "transformer": (lambda: nn.Transformer(4, 2, 1, 1, 8), 16),
    "small": (Small, 4),
}


def assert_outputs(name: str, net: Any) -> None:
    net.eval()
    with np.load(FOLDER / f"{name}-expected.npz") as arrays:
        inputs = [paddle.to_tensor(arrays[key]) for key in sorted(arrays.files) if key != "output"]
        np.testing.assert_allclose(net(*inputs).numpy(), arrays["output"], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", NETS)
def test_nets_give_the_outputs_of_pytorch(name: str) -> None:
    """All matrices of Linear layers are square or fit transposed: a shape decides nothing."""
    make, transposed = NETS[name]
    net = make()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = net.set_state_dict(paddle.load(FOLDER / f"{name}.pth"))
    assert tuple(report) == ([], [])
    assert (len(report.matched), len(report.transposed)) == (len(net.state_dict()), transposed)
    assert_outputs(name, net)


def test_safetensors_of_pytorch_and_back(tmp_path: Path) -> None:
    """A state of PyTorch goes out under its names; one of a layer as it is."""
    state = paddle.load(FOLDER / "resnet.safetensors")
    assert isinstance(state, TorchState)
    paddle.save(state, str(tmp_path / "again.safetensors"))
    for path in (FOLDER / "resnet.safetensors", tmp_path / "again.safetensors"):
        net = ResNet()
        net.set_state_dict(paddle.load(path))
        assert_outputs("resnet", net)
    for name in ("own.safetensors", "own.npz"):
        paddle.save(net.state_dict(), str(tmp_path / name))
        other, found = ResNet(), paddle.load(str(tmp_path / name))
        assert not isinstance(found, TorchState)
        assert other.set_state_dict(found) == ([], [])
        assert_outputs("resnet", other)


def test_report_names_what_is_missing_and_left_over() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1D(2))
    weight = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    state = TorchState(
        {
            "module.0.weight": weight,
            "module.1.running_mean": weight[0],
            "module.1.num_batches_tracked": paddle.ones([]),
            "module.head.bias": weight[1],
        }
    )
    with pytest.warns(UserWarning, match="Skip loading for"):
        report = net.set_state_dict(state)
    assert isinstance(report, StateReport)
    assert net[0].weight.tolist() == [[1, 3], [2, 4]]
    assert net[1]._mean.tolist() == [1, 2]
    assert str(report) == (
        "2 matched, 1 transposed (0.weight), 4 missing (0.bias, 1.weight, 1.bias, 1._variance), 1 left over "
        "(head.bias)"
    )
    with pytest.raises(ArgumentError, match="has the names of layers"):
        net.set_state_dict(state, use_structured_name=False)


def test_weight_of_a_linear_layer_that_a_norm_splits_is_not_taken() -> None:
    """Its axes are not known to be those of Paddle's, and square ones would pass."""
    net = nn.utils.weight_norm(nn.Linear(2, 2), dim=0)
    state = TorchState({"weight_g": paddle.ones([2]), "weight_v": paddle.ones([2, 2])})
    with pytest.warns(UserWarning, match="Skip loading for (weight_v|weight_g|bias)"):
        report = net.set_state_dict(state)
    assert report.left_over == ["weight_g", "weight_v"]


def test_loaded_model_takes_no_state_of_pytorch(tmp_path: Path) -> None:
    """It has names, but no classes: a square matrix would be taken untransposed."""
    paddle.jit.save(nn.Linear(2, 2), str(tmp_path / "m"), [paddle.static.InputSpec([None, 2], "float32")])
    model, weight = paddle.jit.load(str(tmp_path / "m")), np.ones((2, 2), np.float32)
    with pytest.raises(ArgumentError, match="the classes of its layers"):
        model.set_state_dict(TorchState({"weight": weight}))


def test_copy_and_removed_names_keep_the_layout_of_pytorch() -> None:
    state = paddle.load(FOLDER / "resnet.pth")
    other = state.copy()
    del other["fc.bias"]
    assert type(other) is TorchState
    assert "fc.bias" in state


def test_layout_of_files_that_do_not_state_it(tmp_path: Path) -> None:
    arrays = {"fc.weight": np.ones((2, 2), np.float32)}
    np.savez(tmp_path / "plain.npz", **arrays)
    np.savez(tmp_path / "torch.npz", **arrays, **{"bn.running_var": np.ones(2)})
    assert not isinstance(paddle.load(str(tmp_path / "plain.npz")), TorchState)
    assert isinstance(paddle.load(str(tmp_path / "plain.npz"), layout="torch"), TorchState)
    assert isinstance(paddle.load(str(tmp_path / "torch.npz")), TorchState)
    assert isinstance(paddle.load(FOLDER / "dtypes.safetensors"), TorchState)
    assert not isinstance(paddle.load(FOLDER / "dtypes.safetensors", layout="paddle"), TorchState)
    with pytest.raises(ArgumentError, match="layout must be one of paddle, torch"):
        paddle.load(FOLDER / "dtypes.safetensors", layout="jax")


def test_dtypes_views_and_values_of_a_checkpoint() -> None:
    found = paddle.load(FOLDER / "checkpoint.pt")
    assert isinstance(found["model"], TorchState)
    for kind, tensor in found["model"].items():
        assert str(tensor.dtype).rpartition(".")[2] == kind
        expected = [0, 1, 1] if kind == "bool" else [0, 1, 3]
        assert tensor.astype("float32" if kind == "bfloat16" else tensor.dtype).tolist() == expected
    base = np.arange(24, dtype=np.float32)
    expected_views = [
        base.reshape(4, 6)[1:3, 1:6:2],
        base.reshape(4, 6).T,
        [[0, 1]] * 3,
        20.0,
        np.zeros((0, 3)),
    ]
    for tensor, expected in zip(found["views"], expected_views, strict=True):
        assert np.array_equal(tensor.numpy(), expected)
    assert [tensor.tolist() for tensor in found["small"]] == [[1.5, -448.0, 0.015625]] * 2
    assert found["unsigned"].tolist() == [1, 65535]
    assert found["parameter"].tolist() == [1, 1]
    assert (found["epoch"], found["size"], found["device"]) == (3, (4, 6), "cpu")
    assert found["optimizer"]["param_groups"][0]["lr"] == 0.001
    arrays = paddle.load(FOLDER / "checkpoint.pt", return_numpy=True)
    assert type(arrays["same"][0]) is np.ndarray
    assert arrays["same"][0] is arrays["same"][1]


def test_dtypes_of_safetensors(tmp_path: Path) -> None:
    found = paddle.load(FOLDER / "dtypes.safetensors")
    special = {"bool": [0, 1, 1], "e4m3fn": [1.5, -448, 0.015625], "e5m2": [1.5, -448, 0.015625]}
    for kind, tensor in found.items():
        wide = tensor.astype("complex64" if "complex" in kind else "float32")
        assert wide.tolist() == special.get(kind, [0, 1, 3])
    paddle.save(found, str(tmp_path / "again.safetensors"))
    again = paddle.load(str(tmp_path / "again.safetensors"))
    assert {name: tensor.dtype for name, tensor in again.items()} == {n: t.dtype for n, t in found.items()}


def test_files_that_are_not_read_are_refused_in_one_sentence() -> None:
    with pytest.raises(FormatError, match=r"old\.pth: not loaded: it has the old form of PyTorch"):
        paddle.load(FOLDER / "old.pth")
    with pytest.raises(FormatError, match=r"names 'torch\.nn\.modules\.linear\.Linear', which is refused"):
        paddle.load(FOLDER / "whole.pth")


def test_child_process_reads_foreign_weights_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded, "_is_child", False)
    monkeypatch.chdir(FOLDER)
    with pytest.raises(FormatError, match=r"^whole\.pth: data\.pkl: not loaded") as caught:
        paddle.load("whole.pth")
    assert "guarded_child" not in str(caught.traceback[-1].path)
    assert caught.traceback[-1].name == "run_child"


def test_values_that_a_form_can_not_hold_are_refused(tmp_path: Path) -> None:
    for value, error, reason in (
        ([paddle.ones([1])], ArgumentError, "safetensors holds a state dict: got list"),
        ({"epoch": 3}, ArgumentError, "holds tensors by name: got int at 'epoch'"),
        ({"w": paddle.ones([1], "complex128")}, DTypeError, "complex128 can't be stored as safetensors"),
    ):
        with pytest.raises(error, match=reason):
            paddle.save(value, str(tmp_path / "x.safetensors"))
    assert list(tmp_path.iterdir()) == []
