"""Operators of a traced Program know the call of a Layer that made them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.core.errors import FormatError
from engine.core.layer_calls import as_scope, common_call, layer_call, of_scope
from engine.jit import to_static
from engine.jit.saved.model_files import read_model_files
from engine.program.passes.clone import clone
from engine.program.saved.serialize import from_plain, to_plain
from engine.static import InputSpec
from engine.vision.models import resnet18


class Blocks(nn.Layer):
    """Calls one Layer several times, in a loop and behind a branch that a Tensor decides."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.act = nn.ReLU()
        self.blocks = nn.LayerList([nn.Sequential(nn.Linear(4, 4), nn.ReLU()) for _ in range(2)])

    def forward(self, x: Any) -> Any:
        for block in self.blocks:
            x = block(x)
            if x.sum() > 0:
                x = self.act(self.fc(x))
        return self.act(x) + 1


def traced(net: nn.Layer, shape: list[int | None]) -> Any:
    function = to_static(net, input_spec=[InputSpec(shape, "float32")], full_graph=True)
    return function.forward.concrete_program.main_program


def paths(program: Any) -> list[tuple[str, str]]:
    return [(o.opdef.name, o.layer) for block in program.blocks for o in block.ops]


def test_a_call_has_the_names_of_the_layers_around_it_and_a_number() -> None:
    found = paths(traced(resnet18(num_classes=10), [None, 3, 32, 32]))
    block = [path for _, path in found if path == "layer1.0" or path.startswith("layer1.0.")]
    assert block == [
        "layer1.0.conv1",
        "layer1.0.bn1",
        "layer1.0.relu",
        "layer1.0.conv2",
        "layer1.0.bn2",
        "layer1.0",  # the sum, which no Layer of its own makes
        "layer1.0.relu#2",
    ]


def test_loops_branches_and_operators_of_the_network_itself() -> None:
    found = paths(traced(Blocks(), [2, 4]))
    relus = [path for name, path in found if name == "relu"]
    assert sorted(relus) == ["act", "act#2", "act#3", "blocks.0.1", "blocks.1.1"]
    assert {path for name, path in found if name in ("reduce_sum", "conditional_block")} == {""}
    assert "fc#2" in {path for _, path in found}


def test_paths_survive_a_clone_and_a_file_and_are_not_in_the_text() -> None:
    program = traced(Blocks(), [2, 4])
    assert paths(clone(program)) == paths(program)
    assert paths(from_plain(to_plain(program))) == paths(program)
    assert "blocks.0" not in str(program).split("op_callstack")[0]


def test_gradients_have_the_path_of_their_forward() -> None:
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    converted = to_static(net)
    converted(paddle.ones([2, 4])).sum().backward()
    ((run, _),) = [
        (plan, name) for name, plan in converted.forward.concrete_program.plans() if "backward" in name
    ]
    assert {"0", "1"} <= {operator.layer for operator in run.ops}


def test_an_eager_call_and_a_function_without_layers_have_none() -> None:
    assert layer_call() == ""
    program = to_static(lambda x: x * 2, input_spec=[InputSpec([2])], full_graph=True)
    assert {path for _, path in paths(program.concrete_program.main_program)} == {""}
    np.testing.assert_array_equal(nn.ReLU()(paddle.to_tensor([-1.0, 1.0])).numpy(), [0, 1])


@pytest.mark.parametrize("path", ["a" * 1001, "a." * 100 + "a", "a\n", "a\u202eb", 3])
def test_an_invalid_path_in_a_file_is_refused(path: object) -> None:
    plain = to_plain(traced(nn.Sequential(nn.ReLU()), [2]))
    plain["blocks"][0]["ops"][0]["layer"] = path  # type: ignore[typeddict-item]
    with pytest.raises(FormatError, match="layer: a path of at most"):
        from_plain(plain)


def test_files_without_paths_still_open(tmp_path: Path) -> None:
    plain = to_plain(traced(nn.Sequential(nn.ReLU()), [2]))
    del plain["blocks"][0]["ops"][0]["layer"]
    assert paths(from_plain(plain))[0][1] == ""


def test_fused_operators_have_the_call_that_holds_them_all() -> None:
    assert common_call(["a.b.c", "a.b.d#2"]) == "a.b"
    assert common_call(["a.b", "a.b"]) == "a.b"
    assert common_call(["a.b", "a.bc"]) == "a"
    assert common_call(["a", ""]) == ""


@pytest.mark.parametrize("format", ["paddle", "onnx"])
def test_paths_survive_the_formats_of_others(tmp_path: Path, format: str) -> None:
    if format == "onnx":
        pytest.importorskip("onnx")
    net = nn.Sequential(nn.Conv2D(1, 2, 3), nn.ReLU(), nn.Sequential(nn.Flatten(), nn.Linear(8, 2)))
    net.eval()
    prefix = str(tmp_path / "net")
    paddle.jit.save(net, prefix, input_spec=[InputSpec([None, 1, 4, 4], "float32")], format=format)
    found = read_model_files(f"{prefix}.onnx" if format == "onnx" else prefix).program
    layers = {o.get("layer") for block in found["blocks"] for o in block["ops"]}
    assert layers == {"0", "1", "2.0", "2.1"}


def test_scopes_of_pytorch_are_paths() -> None:
    """Names as torch.onnx of PyTorch 2.13 writes them for a ResNet."""
    assert of_scope("/layer1/layer1.0/downsample/downsample.1") == "layer1.0.downsample.1"
    assert of_scope("/conv1") == "conv1"
    assert of_scope("") == of_scope("/") == of_scope("/" + "a/" * 101) == of_scope("/a\u202e/") == ""
    assert of_scope(as_scope("layer1.0.relu#2")) == "layer1.0.relu#2"
