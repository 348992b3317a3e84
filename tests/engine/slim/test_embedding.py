"""``quant_embedding``: tables of integers give nearly the same rows, in a quarter of the space."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine import fluid, static
from engine.core.errors import ArgumentError, DTypeError
from engine.program.graph.check import check
from engine.program.passes.quantization.tables import by_magnitude, by_maximum
from engine.slim.quant import quant_embedding
from tests.engine.fresh_static import fresh_static

IDS = np.array([[0], [3], [7], [3]])


@pytest.fixture(autouse=True)
def scope() -> Iterator[static.Scope]:
    with fresh_static() as made:
        yield made


def network() -> tuple[Any, Any, Any, static.Executor]:
    """Two embeddings of one table and a product behind them."""
    engine.seed(2)
    words = static.data("words", [None, 1], "int64")
    attr = engine.ParamAttr(name="emb", initializer=engine.nn.initializer.Uniform(-0.3, 0.3))
    first = static.nn.embedding(words, [9, 6], padding_idx=7, param_attr=attr)
    second = static.nn.embedding(words, [9, 6], param_attr=attr)
    out = static.nn.fc(engine.add(first, second), 3, num_flatten_dims=2)
    executor = static.Executor()
    executor.run(static.default_startup_program())
    return static.default_main_program().clone(for_test=True), first, out, executor


@pytest.mark.parametrize(
    ("config", "dtype", "near"),
    [
        (None, "int8", 0.3 / 127),
        ({"quantize_op_types": "lookup_table_v2", "lookup_table_v2": {"quantize_type": "log"}}, "int8", 0.03),
        (
            {
                "quantize_op_types": ["lookup_table_v2"],
                "lookup_table_v2": {"quantize_bits": 16, "dtype": "int16"},
            },
            "int16",
            1e-5,
        ),
    ],
)
def test_rows_are_looked_up_as_integers(
    scope: static.Scope, tmp_path: Path, config: Any, dtype: str, near: float
) -> None:
    program, first, out, executor = network()
    before = scope.find_var("emb").get_tensor().numpy()
    made = quant_embedding(program, static.cpu_places(1)[0], config)
    check(made)
    assert "emb" not in made.global_block().vars
    assert made.global_block().var("emb.int").dtype.name == dtype
    types = [op.type for op in made.global_block().ops]
    assert types.count("lookup_table_v2") == 2
    wanted = [first.name, out.name]
    exact = executor.run(program, feed={"words": IDS}, fetch_list=wanted)
    rough = executor.run(made, feed={"words": IDS}, fetch_list=wanted)
    unpadded = IDS[:, 0] != 7
    assert 0 < np.abs(exact[0] - rough[0])[unpadded].max() <= near
    np.testing.assert_array_equal(scope.find_var("emb").get_tensor().numpy(), before)
    if config is None:
        assert not rough[0][~unpadded].any()
        np.testing.assert_allclose(rough[1], exact[1], atol=10 * near)
        static.save_inference_model(
            str(tmp_path / "m"),
            [made.global_block().var("words")],
            [made.global_block().var(out.name)],
            executor,
            program=made,
        )
        with static.scope_guard(static.Scope()):
            read, _, fetches = static.load_inference_model(str(tmp_path / "m"), executor)
            np.testing.assert_array_equal(executor.run(read, {"words": IDS}, fetches)[0], rough[1])


def test_each_type_of_embedding_is_quantized_on_its_own(scope: static.Scope) -> None:
    words = static.data("words", [None, 1], "int64")
    early = fluid.layers.embedding(words, [9, 6], param_attr=engine.ParamAttr(name="early"))
    late = static.nn.embedding(words, [9, 6], param_attr=engine.ParamAttr(name="late"))
    out = engine.add(early, engine.squeeze(late, 1))
    executor = static.Executor()
    executor.run(static.default_startup_program())
    program = out.block.program.clone(for_test=True)
    for kind, quantized, kept in (("lookup_table", "early", "late"), ("lookup_table_v2", "late", "early")):
        made = quant_embedding(program, static.cpu_places(1)[0], {"quantize_op_types": kind})
        names = made.global_block().vars
        assert {f"{quantized}.int", kept} <= names.keys()
        assert not {quantized, f"{kept}.int"} & names.keys()
    names = quant_embedding(program, static.cpu_places(1)[0]).global_block().vars
    assert {"early.int", "late.int"} <= names.keys()


def test_a_type_that_no_embedding_has_is_refused(scope: static.Scope) -> None:
    program, *_ = network()
    with pytest.raises(ArgumentError, match="no embeddings of the types lookup_table; nothing to quantize"):
        quant_embedding(program, static.cpu_places(1)[0], {"quantize_op_types": "lookup_table"})


def test_even_steps_are_those_of_paddleslim() -> None:
    table = np.array([[0.5, -0.25, 0.1, 0.0]], "float32")
    found = by_maximum(table, 8, "int8")
    assert (found.integers.tolist(), found.scale.tolist(), found.levels) == ([[127, -64, 25, 0]], [0.5], 127)
    limited = by_maximum(table, 8, "int8", threshold=0.25)
    assert (limited.integers.tolist(), limited.scale.tolist()) == ([[127, -127, 51, 0]], [0.25])
    wide = np.append(np.linspace(-1, 1, 9999), 50.0).astype("float32")
    assert 1 <= by_maximum(wide, 8, "int8").scale[0] < 2
    assert by_maximum(np.zeros((2, 2), "float32"), 8, "int8").integers.tolist() == [[0, 0], [0, 0]]


def test_magnitudes_are_powers_of_two() -> None:
    table = np.array([[1.0, -2.0, 2**0.125, 0.0, -1.99]], "float32")
    found = by_magnitude(table)
    place = found.integers.astype("int64")
    values = np.where(place < 0, -1, 1) * found.scale[place % 128]
    np.testing.assert_allclose(values, [[1.0, -2.0, 2**0.125, 0.0, -2.0]], rtol=1e-6)
    many = (2.0 ** (np.arange(-150, 51) / 8)).astype("float32")
    coarse = by_magnitude(many)
    assert coarse.integers.min() >= 0
    np.testing.assert_allclose(coarse.scale[coarse.integers[-128:]], many[-128:], rtol=1e-6)
    assert set(coarse.integers[:-128]) == {0}
    assert by_magnitude(np.full((1, 2), -4.0, "float32")).integers.tolist() == [[-128, -128]]


@pytest.mark.parametrize(
    ("config", "error", "said"),
    [
        ([], DTypeError, "config must be a dict: got list"),
        ({"quantize_op_types": ["gather"]}, ArgumentError, "config has 'gather': its types are lookup_table"),
        ({"lookup_table_v2": 8}, DTypeError, r"config\['lookup_table_v2'\] must be a dict: got int"),
        ({"lookup_table_v2": {"quantize_bits": 4}}, ArgumentError, "quantize_bits 4: choose from 8, 16"),
        ({"lookup_table_v2": {"bits": 8}}, ArgumentError, "has bits 8: choose from quantize_type, "),
        ({"lookup_table_v2": {"quantize_bits": 16}}, ArgumentError, "abs_max of 16 bits in int8 is not"),
        ({"lookup_table_v2": {"threshold": 0}}, ArgumentError, "threshold must be a number above 0: got 0"),
        ({"quantize_op_types": ["pyramid_hash"]}, ArgumentError, "no embeddings of the types pyramid_hash"),
    ],
)
def test_wrong_configs(config: Any, error: type[Exception], said: str) -> None:
    program, *_ = network()
    with pytest.raises(error, match=said):
        quant_embedding(program, None, config)


def test_a_training_program_is_refused() -> None:
    _, _, out, _ = network()
    engine.optimizer.SGD(0.1).minimize(engine.mean(out))
    with pytest.raises(ArgumentError, match=r"trains 'emb'; pass one that predicts: clone\(for_test=True\)"):
        quant_embedding(static.default_main_program(), None)
