"""Edits of loaded models: names, dimensions, parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.core.errors import ArgumentError, ShapeError
from engine.jit.saved.change_format import change_format
from engine.jit.saved.edit_model import ModelEdits, edit_layer, parse_edits
from engine.static import InputSpec


class Two(nn.Layer):
    """Two inputs, two outputs, and a constant that is computed."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 3), nn.Linear(3, 2)

    def forward(self, x: Any, y: Any) -> Any:
        scale = paddle.full([1], 2.0) * 3.0
        hidden = nn.functional.relu(self.first(x)) * scale
        return self.second(hidden), hidden + y


@pytest.fixture
def saved(tmp_path: Path) -> str:
    specs = [InputSpec([None, 4], "float32", "x"), InputSpec([None, 3], "float32", "y")]
    paddle.jit.save(Two(), str(tmp_path / "m"), specs)
    return str(tmp_path / "m")


def rows(*shape: int) -> Any:
    return paddle.to_tensor(np.random.default_rng(0).standard_normal(shape).astype(np.float32))


def edited(saved: str, rename: Any = (), dim: Any = (), cut: str = "", fold: bool = False) -> Any:
    return edit_layer(paddle.jit.load(saved), parse_edits(rename, dim, cut, fold))


def test_renamed_inputs_and_outputs_give_the_same_results(saved: str) -> None:
    net = paddle.jit.load(saved)
    outputs = net.program().outputs
    made = edited(saved, ["x=left", "y=x", f"{outputs[0]}=scores"])
    assert made.program().inputs == ["left", "x"]
    assert made.program().outputs == ["scores", outputs[1]]
    for found, wanted in zip(made(rows(2, 4), rows(2, 3)), net(rows(2, 4), rows(2, 3)), strict=True):
        assert np.array_equal(found.numpy(), wanted.numpy())


def test_dimensions_are_fixed_and_opened(saved: str) -> None:
    fixed = edited(saved, dim=["x:0=5", "y:-2=5"])
    block = fixed.program().global_block()
    assert [list(block.var(n).spec.shape) for n in fixed.program().outputs] == [[5, 2], [5, 3]]
    opened = edit_layer(fixed, parse_edits([], ["x:0=-1", "y:0=-1"], "", False))
    block = opened.program().global_block()
    assert [list(block.var(n).spec.shape) for n in opened.program().outputs] == [[-1, 2], [-1, 3]]
    assert opened(rows(7, 4), rows(7, 3))[0].shape == [7, 2]


def test_part_between_tensors_drops_what_it_does_not_need(saved: str) -> None:
    net = paddle.jit.load(saved)
    scores = net.program().outputs[0]
    end = edited(saved, cut=f"..{scores}")
    assert end.program().inputs == ["x"]
    assert len(end.parameters()) == 4
    relu = next(o.outputs[0].name for o in net.program().global_block().ops if o.opdef.name == "relu")
    first, rest = edited(saved, cut=f"..{relu}"), edited(saved, cut=f"{relu}..{scores}")
    assert (len(first.parameters()), len(rest.parameters())) == (2, 2)
    assert np.array_equal(rest(first(rows(3, 4))).numpy(), net(rows(3, 4), rows(3, 3))[0].numpy())
    assert first.state_dict().keys() < net.state_dict().keys()


def test_constants_are_folded(saved: str) -> None:
    before, after = paddle.jit.load(saved).program(), edited(saved, fold=True).program()
    assert len(after.global_block().ops) < len(before.global_block().ops)


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ({"rename": ["z=a"]}, "'z' is neither an input nor an output: the inputs are x, y"),
        ({"rename": ["x=y"]}, "the new name 'y' of 'x' is taken"),
        ({"rename": ["x=a", "y=a"]}, "is taken"),
        ({"rename": ["x"]}, "write OLD=NEW"),
        ({"dim": ["z:0=1"]}, "'z' is not an input: the inputs are x, y"),
        ({"dim": ["x:2=1"]}, "no axis 2"),
        ({"dim": ["x:0=0"]}, "got 0; give a size, or -1"),
        ({"dim": ["x=1"]}, "write INPUT:AXIS=SIZE"),
        ({"cut": "x"}, "write FROM..TO"),
        ({"cut": "..relu"}, "tensor 'relu' does not exist: cut at one of relu_0"),
        ({"cut": "x..x"}, "begin and end at x"),
    ],
)
def test_edits_of_what_does_not_exist_name_what_does(saved: str, edits: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        edited(saved, **edits)


def test_dimensions_that_an_operator_does_not_take_are_refused(saved: str) -> None:
    with pytest.raises(ShapeError, match=r"the model does not take these dimensions: .*matmul"):
        edited(saved, dim=["x:1=5"])


def test_a_part_does_not_begin_at_a_weight(saved: str) -> None:
    name = next(v.name for v in paddle.jit.load(saved).program().bound())
    with pytest.raises(ArgumentError, match="is a weight"):
        edited(saved, cut=f"{name}..")


def test_a_part_that_needs_an_input_before_its_begin_is_refused(saved: str) -> None:
    net = paddle.jit.load(saved)
    relu = next(o.outputs[0].name for o in net.program().global_block().ops if o.opdef.name == "relu")
    with pytest.raises(ArgumentError, match=r"depend on \['y'\]"):
        edited(saved, cut=f"{relu}..")
    with pytest.raises(ArgumentError, match="does not depend on y"):
        edited(saved, cut=f"x,y..{relu}")


def test_edited_model_is_written(saved: str, tmp_path: Path) -> None:
    edits = ModelEdits(rename={"x": "image"}, dims={"x": {0: 1}, "y": {0: 1}})
    changed = change_format(saved, tmp_path / "one", "packed", edits=edits)
    assert changed.difference == 0.0
    again = paddle.jit.load(str(changed.path))
    assert again.program().inputs == ["image", "y"]
    assert [list(s.shape) for s in again.functions["forward"].input_specs()] == [[1, 4], [1, 3]]
