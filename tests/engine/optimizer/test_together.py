"""Updates of many parameters at once against the update parameter by parameter, bit for bit."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import nn, no_grad, optimizer
from engine.nn.regularizer import L1Decay, L2Decay
from engine.tensor import to_tensor
from tests.trials import trials

SHAPES = ([3, 4], [4], [16, 16], [1], [5, 2])
RULES: dict[str, Any] = {
    "sgd": lambda p: optimizer.SGD(0.1, p),
    "momentum": lambda p: optimizer.Momentum(0.1, 0.9, p, use_nesterov=True, weight_decay=0.01),
    "adam": lambda p: optimizer.Adam(0.1, parameters=p),
    "adam l1": lambda p: optimizer.Adam(0.1, parameters=p, weight_decay=L1Decay(0.1)),
    "adam clipped": lambda p: optimizer.Adam(0.1, parameters=p, grad_clip=nn.ClipGradByGlobalNorm(0.5)),
    "adamw": lambda p: optimizer.AdamW(0.1, parameters=p, apply_decay_param_fun=lambda n: n.endswith("1")),
    "adagrad": lambda p: optimizer.Adagrad(0.1, parameters=p, initial_accumulator_value=0.1),
    "rmsprop": lambda p: optimizer.RMSProp(0.1, parameters=p, momentum=0.5, centered=True),
    "adadelta": lambda p: optimizer.Adadelta(0.1, parameters=p),
    "adamax": lambda p: optimizer.Adamax(0.1, parameters=p),
    "scheduled": lambda p: optimizer.Adam(optimizer.lr.StepDecay(0.1, 2), parameters=p),
    "groups": lambda p: optimizer.Adam(
        0.1, parameters=[{"params": p[:2], "learning_rate": 0.3}, {"params": p[2:], "beta1": 0.5}]
    ),
}


class Twin:
    """Parameters with an optimizer that updates them together, or one by one."""

    def __init__(self, rule: str, together: bool) -> None:
        random = np.random.RandomState(0)
        self.parameters = [
            nn.Layer().create_parameter(shape, nn.initializer.Assign(random.randn(*shape).astype("float32")))
            for shape in SHAPES
        ]
        for number, parameter in enumerate(self.parameters):
            parameter.name = f"p{number}"
        self.optimizers = [RULES[rule](self.parameters)]
        self.together = together
        self.extras = 0
        self.held: list[Any] = []  # what a user keeps of the parameters' memory
        self._alone()

    def _alone(self) -> None:
        if not self.together:
            for each in self.optimizers:
                each._together = None

    def gradients(self, seed: int, chosen: int) -> None:
        random = np.random.RandomState(seed)
        for number, parameter in enumerate(self.parameters):
            value = random.randn(*SHAPES[number]).astype("float32")
            if not parameter.stop_gradient and chosen >> number & 1:
                (parameter * to_tensor(value)).sum().backward()

    def act(self, action: str, number: int) -> None:
        parameter, rule = self.parameters[number], self.optimizers[0]
        if action == "none":
            parameter.grad = None
        elif action == "replace gradient":
            parameter.grad = to_tensor(np.full(SHAPES[number], 0.25, "float32"))
        elif action == "hook" and not parameter.stop_gradient:
            parameter.register_hook(lambda g: g * 0.5)
        elif action == "set_value":
            parameter.set_value(np.full(SHAPES[number], number, "float32"))
        elif action == "in place":
            with no_grad():
                parameter.scale_(0.5)
        elif action == "replace array":
            parameter._array = parameter._array * 2
        elif action == "hold":
            self.held += [parameter.detach(), parameter.reshape([-1])[:1]]
        elif action == "let go":
            self.held.clear()
        elif action == "second optimizer":
            if len(self.optimizers) < 2:
                self.optimizers.append(optimizer.Momentum(0.05, 0.5, self.parameters[number:]))
                self._alone()
        elif action == "add group":
            extra = nn.Layer().create_parameter([3], nn.initializer.Constant(0.5))
            self.extras += 1
            extra.name = f"extra{self.extras}"
            extra.grad = to_tensor(np.ones(3, "float32"))
            rule._add_param_group({"params": [extra]})
            self.held.append(extra)
        elif action == "state":
            state = {k: v.numpy() if hasattr(v, "numpy") else v for k, v in rule.state_dict().items()}
            if any("p" in name for name in state):
                rule.set_state_dict(state)
        elif action == "clear":
            rule.clear_grad(set_to_zero=bool(number % 2))
        elif action == "stop":
            parameter.stop_gradient = not parameter.stop_gradient
        elif action == "own decay":
            parameter.regularizer = None if parameter.regularizer else L2Decay(0.3)
        elif action == "factor":
            parameter.optimize_attr["learning_rate"] = 0.5
        elif action == "schedule" and isinstance(rule._learning_rate, optimizer.lr.LRScheduler):
            rule._learning_rate.step()

    def step(self) -> None:
        for each in self.optimizers:
            each.step()

    def seen(self) -> Any:
        """Everything that a user sees, as bytes."""
        values = [p.numpy().tobytes() for p in self.parameters]
        grads = [None if p.grad is None else p.grad.numpy().tobytes() for p in self.parameters]
        states = [
            {k: v.numpy().tobytes() if hasattr(v, "numpy") else v for k, v in each.state_dict().items()}
            for each in self.optimizers
        ]
        versions = [p.inplace_version for p in self.parameters]
        return values, grads, states, versions, [x.numpy().tobytes() for x in self.held]


ACTIONS = [
    "none",
    "replace gradient",
    "hook",
    "set_value",
    "in place",
    "replace array",
    "hold",
    "let go",
    "second optimizer",
    "add group",
    "state",
    "clear",
    "stop",
    "own decay",
    "factor",
    "schedule",
]
DEEDS = st.tuples(st.sampled_from(ACTIONS), st.integers(0, len(SHAPES) - 1))
ROUNDS = st.lists(st.tuples(st.integers(1, 31), st.lists(DEEDS, max_size=2)), min_size=2, max_size=8)


@trials(30)
@given(rule=st.sampled_from(list(RULES)), rounds=ROUNDS)
def test_user_actions_between_steps_give_the_same_results_together_and_alone(
    rule: str, rounds: list[Any]
) -> None:
    together, alone = Twin(rule, True), Twin(rule, False)
    for seed, (chosen, deeds) in enumerate(rounds):
        for twin in (together, alone):
            twin.gradients(seed, 31 if seed % 3 else chosen)
            for action, number in deeds:
                twin.act(action, number)
            twin.step()
            if seed % 2:
                twin.optimizers[0].clear_grad()
        assert together.seen() == alone.seen()


def _rows(twin: Twin) -> list[Any]:
    return [twin.optimizers[0]._together.arenas.find(p) for p in twin.parameters]


def _train(twin: Twin, steps: int) -> None:
    for seed in range(steps):
        twin.gradients(seed, 31)
        twin.step()
        twin.optimizers[0].clear_grad()


def test_all_lie_in_one_array_after_a_step() -> None:
    twin = Twin("adam", True)
    _train(twin, 1)
    rows = _rows(twin)
    assert None not in rows
    assert len({id(row.arena) for row in rows}) == 1
    owner = twin.parameters[0]._array.base
    assert all(p._array.base is owner for p in twin.parameters)
    assert owner.nbytes <= sum(p._array.nbytes for p in twin.parameters) + 64
    # Arrays whose length allows it begin at a line of the cache.
    assert twin.parameters[2]._array.ctypes.data % 64 == 0


def test_parameters_with_other_references_keep_their_storage() -> None:
    twin = Twin("adam", True)
    twin.held.append(twin.parameters[1].detach())
    _train(twin, 1)
    assert [row is None for row in _rows(twin)] == [False, True, False, False, False]
    assert twin.held[0].numpy().tobytes() == twin.parameters[1].numpy().tobytes()
    twin.held.clear()
    twin.optimizers[0]._together.arenas._waiting.clear()
    twin.parameters[0]._array = twin.parameters[0]._array.copy()
    _train(twin, 1)
    assert _rows(twin)[0] is not None, "a Tensor whose array was replaced returns to its place"


def test_a_view_of_a_row_that_left_keeps_it_out() -> None:
    twin = Twin("sgd", True)
    _train(twin, 2)
    view = twin.parameters[2].reshape([-1])[:3].detach()
    before = view.numpy()
    twin.parameters[2]._array = twin.parameters[2]._array + 1
    _train(twin, 3)
    assert _rows(twin)[2] is None
    np.testing.assert_array_equal(view.numpy(), before)
    del view
    twin.optimizers[0]._together.arenas._waiting.clear()
    _train(twin, 1)
    assert _rows(twin)[2] is not None


def test_copies_have_memory_of_their_own() -> None:
    twin = Twin("adam", True)
    _train(twin, 2)
    twins = copy.deepcopy(twin)
    before = twin.seen()
    _train(twins, 2)
    assert twin.seen()[0] == before[0]
    assert {id(row.arena) for row in _rows(twins)}.isdisjoint({id(row.arena) for row in _rows(twin)})


def test_backward_still_knows_that_a_value_changed() -> None:
    from engine.core.errors import GradientError

    twin = Twin("adam", True)
    _train(twin, 2)
    first = twin.parameters[0]
    loss = (first * first).sum()
    twin.gradients(7, 30)
    for parameter in twin.parameters[1:]:
        assert parameter.grad is not None
    first.grad = to_tensor(np.ones(SHAPES[0], "float32"))
    twin.step()
    with pytest.raises(GradientError, match="changed in place"):
        loss.backward()
