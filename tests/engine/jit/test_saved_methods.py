"""Layers with several converted methods, saved and loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError, FormatError
from engine.files.inference import read_inference, write_inference
from engine.jit import load, save, to_static
from engine.static import InputSpec

ROWS = [InputSpec([None, 3], "float32", "x")]


class Coder(paddle.nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.inner = paddle.nn.Linear(3, 2)
        self.outer = paddle.nn.Linear(2, 3)

    def forward(self, x: Any) -> Any:
        return self.decode(self.encode(x))

    @to_static(input_spec=ROWS)
    def encode(self, x: Any) -> Any:
        if x.sum() > 0:
            x = x * 2
        return self.inner(x)

    @to_static(input_spec=[InputSpec([None, 2])])
    def decode(self, x: Any) -> Any:
        return self.outer(x)


def test_methods_come_back_over_the_same_parameters(tmp_path: Path) -> None:
    net = Coder()
    save(net, str(tmp_path / "coder"), input_spec=ROWS)
    assert {path.name for path in tmp_path.iterdir()} == {
        "coder.pdmodel",
        "coder.pdiparams",
        "coder.pdiparams.info",
    }
    loaded = load(str(tmp_path / "coder"))
    x = paddle.to_tensor(np.linspace(-1, 2, 12, dtype="float32").reshape(4, 3))
    for sample in (x, -x):
        np.testing.assert_array_equal(loaded(sample).numpy(), net(sample).numpy())
        np.testing.assert_array_equal(loaded.encode(sample).numpy(), net.encode(sample).numpy())
    np.testing.assert_array_equal(loaded.decode(x[:, :2]).numpy(), net.decode(x[:, :2]).numpy())
    assert sorted(loaded.state_dict()) == sorted(net.state_dict())

    loaded.train()
    optimizer = paddle.optimizer.SGD(0.5, parameters=loaded.parameters())
    before = loaded.encode(x).numpy()
    loaded(x).sum().backward()
    optimizer.step()
    assert not np.allclose(loaded.encode(x).numpy(), before), "a step changes the parameters of all methods"


def test_a_loaded_layer_with_methods_is_saved_again(tmp_path: Path) -> None:
    save(Coder(), str(tmp_path / "first"), input_spec=ROWS)
    first = load(str(tmp_path / "first"))
    save(first, str(tmp_path / "second"))
    second = load(str(tmp_path / "second"))
    x = paddle.ones([2, 3])
    np.testing.assert_array_equal(second.encode(x).numpy(), first.encode(x).numpy())
    assert second.program("decode").num_blocks == 1
    with pytest.raises(ArgumentError, match=r"no method 'other' was saved; there are \['decode', 'encode'"):
        second.program("other")


def test_a_loaded_method_becomes_part_of_another_program(tmp_path: Path) -> None:
    save(Coder(), str(tmp_path / "coder"), input_spec=ROWS)
    loaded = load(str(tmp_path / "coder"))

    @to_static
    def function(x: Any) -> Any:
        return loaded.decode(loaded.encode(x)) + 1

    x = paddle.ones([2, 3])
    np.testing.assert_allclose(function(x).numpy(), loaded(x).numpy() + 1, rtol=1e-6)


def test_a_method_whose_inputs_nothing_says_is_named(tmp_path: Path) -> None:
    class Vague(paddle.nn.Layer):
        def forward(self, x: Any) -> Any:
            return x

        @to_static
        def other(self, x: Any) -> Any:
            return x

    with pytest.raises(ArgumentError, match="other: its inputs are unknown"):
        save(Vague(), str(tmp_path / "vague"), input_spec=ROWS)
    assert not list(tmp_path.iterdir())


def test_a_method_may_not_hide_one_of_every_layer(tmp_path: Path) -> None:
    class Hiding(paddle.nn.Layer):
        def forward(self, x: Any) -> Any:
            return x

        @to_static(input_spec=ROWS)
        def extra_repr(self, x: Any) -> Any:  # type: ignore[override]
            return x

    with pytest.raises(ArgumentError, match="method 'extra_repr' of Hiding hides a method"):
        save(Hiding(), str(tmp_path / "hiding"), input_spec=ROWS)


def test_a_file_cannot_bring_a_method_of_every_layer(tmp_path: Path) -> None:
    save(Coder(), str(tmp_path / "coder"), input_spec=ROWS)
    files = read_inference(str(tmp_path / "coder"))
    program = files.program
    program["methods"]["state_dict"] = program["methods"].pop("encode")
    write_inference(str(tmp_path / "hostile"), program, files.weights, files.info)
    with pytest.raises(FormatError, match=r"hostile.pdmodel: its methods are"):
        load(str(tmp_path / "hostile"))
