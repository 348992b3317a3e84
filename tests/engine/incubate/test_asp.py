"""incubate.asp where Paddle has no reference: resumed training, the state comes back, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ConditionError, ModeError
from engine.incubate import asp


@pytest.fixture(autouse=True)
def fresh() -> None:
    asp.reset_excluded_layers()


def trained(net: paddle.nn.Layer, optimizer: asp.pruning.OptimizerWithSparsityGuarantee, steps: int) -> float:
    for _ in range(steps):
        loss = (net(paddle.ones([3, 8])) - 1.0).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    return float(loss)


def test_pruned_weights_stay_so_and_the_others_train() -> None:
    net = paddle.nn.Linear(8, 4)
    optimizer = asp.decorate(paddle.optimizer.Momentum(0.05, parameters=net.parameters()))
    masks = asp.prune_model(net)
    mask = masks[net.weight.name]
    assert asp.calculate_density(mask) == 0.5
    first = trained(net, optimizer, 1)
    assert trained(net, optimizer, 10) < first / 2
    np.testing.assert_array_equal(net.weight.numpy() != 0, mask != 0)


def test_the_masks_are_part_of_the_state() -> None:
    net = paddle.nn.Linear(8, 4)
    optimizer = asp.decorate(paddle.optimizer.SGD(0.05, parameters=net.parameters()))
    asp.prune_model(net)
    state = {name: paddle.to_tensor(value.numpy()) for name, value in optimizer.state_dict().items()}
    name = f"{net.weight.name}.asp_mask"
    state[name] = 1.0 - state[name]
    optimizer.set_state_dict(state)
    trained(net, optimizer, 1)
    assert not net.weight.numpy()[state[name].numpy() == 0].any()
    with pytest.raises(ConditionError, match="asp_mask is not found"):
        optimizer.set_state_dict({})


def test_pruning_refuses_undecorated_models_and_unknown_masks() -> None:
    net = paddle.nn.Linear(8, 4)
    with pytest.raises(ConditionError, match=r"call asp.decorate\(\)"):
        asp.prune_model(net)
    before = net.weight.numpy()
    with pytest.raises(ConditionError, match="mask_algo"):
        asp.prune_model(net, mask_algo="other")
    np.testing.assert_array_equal(net.weight.numpy(), before)
    paddle.enable_static()
    try:
        with pytest.raises(ModeError, match="eager mode"):
            asp.decorate(paddle.optimizer.SGD(0.1))
    finally:
        paddle.disable_static()
