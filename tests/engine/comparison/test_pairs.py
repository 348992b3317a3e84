"""Pairs of one step: equal ones are bitwise identical, planted faults are found at the very operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.comparison.layer_step import LayerStep
from engine.comparison.pairs import eager_and_static, passes_off_and_on, two_steps
from engine.comparison.result import Comparison
from engine.comparison.values import ValueStore
from engine.core.errors import ArgumentError
from engine.core.operators.opdef import OPS
from engine.core.operators.operator import Operator
from engine.nn import functional as F
from engine.program.graph.program import Program
from engine.program.passes import pipeline
from engine.program.passes.rewriter import Rewriter
from tests.engine.comparison.networks import NETWORKS, Classifier, Small, made, step_of

SEEDS = range(3)


@pytest.mark.parametrize("name", NETWORKS)
def test_eager_and_static_are_bitwise_identical(name: str) -> None:
    with ValueStore() as store:
        found = eager_and_static(made(name), store)
    assert found.equal, found.verdict
    assert found.verdict.startswith("Bitwise identical: "), found.verdict
    counts = found.counts
    assert f"{counts['forward']} operators forward, {counts['backward']} backward" in found.verdict
    assert counts["forward"] > 5
    assert counts["backward"] >= 4
    assert {each.type for each in found.unmatched} <= {"fill_constant"}, found.unmatched


@pytest.mark.parametrize("name", NETWORKS)
def test_passes_change_nothing(name: str) -> None:
    with ValueStore() as store:
        found = passes_off_and_on(made(name), store)
    assert found.verdict.startswith("Bitwise identical: "), found.verdict


def test_a_step_leaves_weights_and_random_numbers_as_they_were() -> None:
    step = made("small")
    before = {n: p.numpy() for n, p in step.layer.state_dict().items()}
    paddle.seed(7)
    wanted = paddle.rand([3]).numpy()
    paddle.seed(7)
    with ValueStore() as store:
        eager_and_static(step, store)
    assert np.array_equal(paddle.rand([3]).numpy(), wanted)
    for name, value in step.layer.state_dict().items():
        assert np.array_equal(value.numpy(), before[name]), name


@pytest.mark.parametrize("seed", SEEDS)
def test_one_changed_weight_is_found_at_its_operator(seed: int) -> None:
    a, b = made("small"), made("small")
    random = np.random.default_rng(seed)
    names = [n for n, p in b.layer.named_parameters() if n.endswith("weight")]
    name = names[random.integers(len(names))]
    weight = dict(b.layer.named_parameters())[name]
    changed = weight.numpy()
    changed.reshape(-1)[random.integers(changed.size)] += 0.5
    weight.set_value(changed)
    found = compared_again(a, b)
    assert not found.equal
    assert found.first is not None
    assert found.cause is not None
    row = found.rows[found.first]
    layer = name.removeprefix("network.").rpartition(".")[0]
    assert (row.layer, found.cause.kind) == (layer, "weights")
    assert f"`{name.removeprefix('network.')}`" in found.verdict
    assert f"`{row.type}` of `{layer}`, networks.py:" in found.verdict
    assert not any(each.diverges for each in found.rows[: found.first])


@pytest.mark.parametrize("kind", [nn.Dropout, nn.BatchNorm2D])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_layer_left_in_the_other_mode_is_found(kind: type, seed: int) -> None:
    a, b = made("small"), made("small")
    layers = [(n, x) for n, x in b.layer.named_sublayers() if isinstance(x, kind)]
    name, layer = layers[np.random.default_rng(seed).integers(len(layers))]
    layer.eval()
    found = compared_again(a, b)
    assert found.cause is not None
    assert (found.cause.kind, found.cause.text) == ("mode", "A trains, B predicts")
    assert f"of `{name.removeprefix('network.')}`" in found.verdict


def compared_again(a: LayerStep, b: LayerStep) -> Comparison:
    """Two steps; the second with the modes that its Layers have now, and the batch of the first."""
    again = LayerStep(b.layer, b.arguments, "B", "network", b.optimizer)
    again.take_batch(a)
    with ValueStore() as store:
        return two_steps(a, again, store)


@pytest.mark.parametrize("seed", SEEDS)
def test_another_seed_is_found_at_the_first_random_operator(seed: int) -> None:
    a = made("small")
    paddle.seed(100 + seed)
    b = LayerStep(a.layer, a.arguments, "B", "network", a.optimizer)
    with ValueStore() as store:
        found = two_steps(a, b, store)
    assert found.cause is not None
    assert found.cause.kind == "seed"
    assert "`dropout` of `drops.0`" in found.verdict


def with_pass(monkeypatch: pytest.MonkeyPatch, rewrite: Callable[[Program], None]) -> None:
    """Let ``rewrite`` be the second pass."""
    passes = pipeline.PIPELINE
    planted = pipeline.Pass(rewrite, pipeline.EXACT)
    monkeypatch.setattr(pipeline, "PIPELINE", (passes[0], planted, *passes[1:]))


def layer_of(operator: Operator) -> str:
    return operator.layer.removeprefix("network").removeprefix(".")


@pytest.mark.parametrize("seed", range(5))
def test_a_pass_that_inserts_a_sign_is_named(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[str] = []

    def change_a_sign(program: Program) -> None:
        block = program.global_block()
        ops = [o for o in block.ops if o.opdef.name in ("relu", "batch_norm", "matmul_v2", "conv2d")]
        operator = ops[np.random.default_rng(seed).integers(len(ops))]
        chosen.append(layer_of(operator))
        old = operator.outputs[0]
        readers = [o for o in block.ops if any(v is old for v in o.inputs)]
        with Rewriter(program).before(block.ops[block.ops.index(operator) + 1], block, operator):
            negative = paddle.scale(old, -1.0)
        for reader in readers:
            reader.inputs = tuple([negative if v is old else v for v in reader.inputs])
        program.changed()

    with_pass(monkeypatch, change_a_sign)
    with ValueStore() as store:
        found = eager_and_static(made("small"), store)
    assert found.cause is not None
    assert (found.cause.kind, found.cause.text) == ("pass", "the pass `change_a_sign` changes it")
    assert found.first_unmatched is not None
    alone = found.unmatched[found.first_unmatched]
    assert (alone.side, alone.type, alone.layer) == ("B", "scale", chosen[0])
    assert found.verdict.endswith(": runs in B only; the pass `change_a_sign` changes it")


@pytest.mark.parametrize("seed", range(5))
def test_a_pass_that_subtracts_is_found_at_its_operator(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[str] = []

    def subtract(program: Program) -> None:
        ops = [o for o in program.global_block().ops if o.opdef.name == "elementwise_add"]
        operator = ops[np.random.default_rng(seed).integers(len(ops))]
        chosen.append(layer_of(operator))
        operator.opdef = OPS["elementwise_sub"]
        program.changed()

    with_pass(monkeypatch, subtract)
    with ValueStore() as store:
        found = eager_and_static(made("small"), store)
    assert found.cause is not None
    assert (found.cause.kind, found.cause.text) == ("pass", "the pass `subtract` changes it")
    assert found.first is not None
    row = found.rows[found.first]
    assert (row.type, row.layer) == ("elementwise_sub", chosen[0])
    assert ": inputs equal, results differ by " in found.verdict


class OtherWhenConverted(nn.Layer):
    """Code that does something else where it is converted, in one of its layers."""

    def __init__(self, where: int) -> None:
        super().__init__()
        self.layers = nn.LayerList([nn.Linear(6, 6) for _ in range(4)])
        self.where = where

    def forward(self, x: Any) -> Any:
        for n, layer in enumerate(self.layers):
            x = layer(x)
            if n == self.where and not paddle.in_dynamic_mode():
                x = F.relu(x)
            else:
                x = F.sigmoid(x)
        return x[:, :4]


@pytest.mark.parametrize("where", range(4))
def test_a_branch_that_differs_when_it_is_converted_is_found(where: int) -> None:
    paddle.seed(0)
    with ValueStore() as store:
        found = eager_and_static(step_of(OtherWhenConverted(where), [5, 6]), store)
    assert not found.equal
    assert found.cause is not None
    assert found.cause.kind == "branch"
    assert found.first_unmatched is not None
    alone = found.unmatched[found.first_unmatched]
    assert alone.type in ("relu", "sigmoid")
    assert "test_pairs.py:" in found.verdict


def test_a_changed_weight_in_a_loop_is_found_in_its_first_iteration() -> None:
    a, b = made("loop"), made("loop")
    weight = dict(b.layer.named_parameters())["network.cell.weight"]
    weight.set_value(weight.numpy() * 1.5)
    found = compared_again(a, b)
    assert found.first is not None
    row = found.rows[found.first]
    assert (row.layer, row.type, row.iterations) == ("cell", "matmul_v2", (0,))
    assert "`matmul_v2` of `cell`, networks.py:" in found.verdict
    assert ", iteration 1: inputs equal, results differ by " in found.verdict
    iterations = {each.iterations for each in found.rows if each.layer == "cell" and each.part != "update"}
    assert iterations == {(0,), (1,), (2,)}


class Sides(nn.Layer):
    """A network that is made with what may differ: a bound of a branch, a slope, a precision."""

    def __init__(self, bound: float = 10.0, slope: float = 0.1, dtype: str = "") -> None:
        super().__init__()
        self.fc = nn.Linear(6, 6)
        self.bound, self.slope, self.dtype = bound, slope, dtype

    def forward(self, x: Any) -> Any:
        x = F.leaky_relu(self.fc(x), self.slope)
        if x.mean() > self.bound:
            x = paddle.tanh(x)
        else:
            x = paddle.sin(x)
        if self.dtype:
            x = x.astype(self.dtype).astype("float32")
        return self.fc(x)[:, :4]


@pytest.mark.parametrize(
    ("changes", "kind", "words"),
    [
        ({"bound": -10.0}, "attribute", "`fill_constant`, test_pairs.py:"),
        ({"slope": 0.2}, "attribute", "`leaky_relu`, test_pairs.py:"),
        ({"dtype": "float16"}, "precision", "`cast`, test_pairs.py:"),
    ],
)
def test_other_differences_of_two_networks_are_named(changes: Any, kind: str, words: str) -> None:
    steps = []
    for more in ({}, changes):
        paddle.seed(0)
        steps.append(step_of(Sides(**more), [5, 6]))
    with ValueStore() as store:
        found = two_steps(*steps, store)
    assert found.cause is not None
    assert found.cause.kind == kind, found.verdict
    assert words in found.verdict
    if "slope" in changes:
        assert "is 0.1 in A and 0.2 in B" in found.cause.text
    if kind == "precision":
        assert found.cause.text == "B converts its values there"


@pytest.mark.parametrize("at", [False, True])
def test_a_plan_that_computes_otherwise_is_the_verdict(at: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    step = made("branch")
    real = LayerStep.planned

    def planned(step: LayerStep, store: ValueStore, compiled: bool = False) -> Any:
        side = real(step, store)
        if compiled is at:
            side.results[0] = store.put("result 0", store.get(side.results[0]) * 1.1)
        return side

    monkeypatch.setattr("engine.comparison.pairs.can_compile", lambda: True)
    with ValueStore() as store:
        assert eager_and_static(step, store).notes[1] == (
            "As one plan with NumPy's kernels: results and gradients bitwise identical"
        )
        monkeypatch.setattr(LayerStep, "planned", planned)
        found = eager_and_static(step, store)
    assert not found.equal
    kind, cause = ("compiled", "a compiled kernel") if at else ("NumPy's", "fusion")
    begin = f"All operators agree one by one, but as one plan with {kind} kernels the loss differs by "
    assert found.verdict.startswith(begin)
    assert found.verdict.endswith(f"; {cause} computes otherwise")


class Cancelling(nn.Layer):
    """Its inputs are nearly 1, and what is left of them after 1 is subtracted counts."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = self.create_parameter([4])

    def forward(self, x: Any) -> Any:
        return ((x - 1.0) * 1e5 * self.weight).sum()


def test_a_plan_is_not_blamed_for_what_rounding_does(monkeypatch: pytest.MonkeyPatch) -> None:
    paddle.seed(0)
    step = LayerStep(Cancelling(), (paddle.to_tensor(np.full([3, 4], 1.0001, "float32")),))
    real = LayerStep.planned

    def planned(step: LayerStep, store: ValueStore, compiled: bool = False) -> Any:
        side = real(step, store)
        if compiled:
            side.results[0] = store.put("result 0", store.get(side.results[0]) * 1.05)
        return side

    monkeypatch.setattr("engine.comparison.pairs.can_compile", lambda: True)
    monkeypatch.setattr(LayerStep, "planned", planned)
    with ValueStore() as store:
        found = eager_and_static(step, store)
    assert found.equal, found.verdict
    assert not found.bitwise
    assert found.notes[-1] == (
        "As one plan with compiled kernels: the loss differs by 0.05; rounding of the inputs alone moves it "
        "as far, larger batches may help"
    )


def test_another_rate_is_found_at_the_first_update() -> None:
    a, b = made("branch"), made("branch")
    assert b.optimizer is not None
    b.optimizer.set_lr(0.5)
    found = compared_again(a, b)
    assert found.cause is not None
    assert found.cause.kind == "optimizer"
    begin = "update of `one.weight`: gradients equal, new values differ by "
    assert found.verdict.startswith(begin.replace("one", "other")) or found.verdict.startswith(begin)
    assert found.verdict.endswith("; the optimizer's settings or state differ")
    assert not any(row.diverges for row in found.rows if row.part != "update")


class Decorated(nn.Layer):
    """A network whose forward is converted, with such a Layer in it."""

    def __init__(self, deep: bool = True) -> None:
        super().__init__()
        self.fc = nn.Linear(6, 6)
        self.inner = Decorated(False) if deep else nn.ReLU()

    @paddle.jit.to_static
    def forward(self, x: Any) -> Any:
        return self.inner(self.fc(x))


def test_converted_functions_of_the_network_run_as_written_on_the_eager_side() -> None:
    paddle.seed(0)
    step = step_of(Decorated(), [5, 6])
    with ValueStore() as store:
        found = eager_and_static(step, store)
    assert found.verdict.startswith("Bitwise identical: ")
    assert {row.layer for row in found.rows if row.part == "forward"} == {
        "fc",
        "inner.fc",
        "inner.inner",
        "(loss)",
    }


def test_programs_without_a_common_operator_are_refused_before_anything_runs() -> None:
    ran = []

    class Sums(nn.Layer):
        def forward(self, x: Any) -> Any:
            ran.append(type(x))
            return x.sum()

    class Means(nn.Layer):
        def forward(self, x: Any) -> Any:
            return x.mean()

    x = paddle.ones([2, 3])
    with ValueStore() as store, pytest.raises(ArgumentError, match="no operator in common"):
        two_steps(LayerStep(Sums(), [x]), LayerStep(Means(), [x]), store)
    assert paddle.Tensor not in ran


def test_an_equal_loss_makes_networks_not_comparable() -> None:
    class Convolution(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2D(1, 4, 4)

        def forward(self, x: Any) -> Any:
            return paddle.squeeze(self.conv(x), [2, 3])

    class Means(nn.Layer):
        def forward(self, x: Any) -> Any:
            return paddle.tile(x.mean([2, 3]), [1, 4])

    a, b = step_of(Convolution(), [2, 1, 4, 4]), step_of(Means(), [2, 1, 4, 4], optimizer=False)
    with ValueStore() as store, pytest.raises(ArgumentError, match="no operator in common"):
        two_steps(a, b, store)


def test_other_input_shapes_are_refused() -> None:
    a, b = made("small"), step_of(Small(), [5, 1, 9, 8])
    with ValueStore() as store, pytest.raises(ArgumentError, match=r"takes float32 \[5, 1, 8, 8\]"):
        two_steps(a, b, store)


def test_classifier_is_a_step_of_its_network() -> None:
    step = made("branch")
    assert isinstance(step.layer, Classifier)
    with ValueStore() as store:
        layers = {each.layer for each in step.eager(store).operators}
    assert layers == {"", "other", "out", "(loss)"}
