"""Sequential, LayerList, LayerDict and ParameterList."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import pytest

from engine import nn
from engine.core.errors import ArgumentError, DTypeError, OutOfRangeError
from engine.tensor import to_tensor


def test_sequential_by_position_and_name() -> None:
    net = nn.Sequential(("first", nn.Linear(2, 3)), ("second", nn.ReLU()))
    assert net["first"] is net[0] is net[-2]
    assert len(net) == 2
    assert [n for n, _ in net.named_parameters()] == ["first.weight", "first.bias"]
    out = net(to_tensor(np.ones((4, 2), "float32")))
    np.testing.assert_array_equal(
        out.numpy(), np.maximum(net[0](to_tensor(np.ones((4, 2), "float32"))).numpy(), 0)
    )


def test_sequential_slices_and_changes() -> None:
    layers = [nn.ReLU(), nn.Tanh(), nn.Sigmoid()]
    net = nn.Sequential(*layers)
    assert isinstance(net[1:], nn.Sequential)
    assert net[1:][0] is layers[1]
    net[1] = nn.Identity()
    assert isinstance(net[1], nn.Identity)
    del net[0]
    assert list(net._sub_layers) == ["1", "2"]
    with pytest.raises(OutOfRangeError, match="index 5 is out of range"):
        _ = net[5]
    with pytest.raises(DTypeError, match="must be a Layer"):
        net[0] = 3
    with pytest.raises(ArgumentError, match="item 1 must be a pair"):
        nn.Sequential(("a", nn.ReLU()), nn.ReLU())
    with pytest.raises(DTypeError, match="must be a Layer or None: got function"):
        nn.Sequential(nn.functional.relu)


def test_layer_list() -> None:
    layers = nn.LayerList(nn.Linear(n + 1, 1) for n in range(3))
    assert [n for n, _ in layers.named_parameters()][::2] == ["0.weight", "1.weight", "2.weight"]
    layers.insert(1, nn.ReLU())
    assert [type(layer).__name__ for layer in layers] == ["Linear", "ReLU", "Linear", "Linear"]
    del layers[0]
    assert list(layers._sub_layers) == ["0", "1", "2"]
    del layers[1:]
    assert len(layers) == 1
    layers.extend([nn.Tanh()]).append(nn.Sigmoid())
    assert isinstance(layers[-1], nn.Sigmoid)
    layers[-1] = nn.Identity()
    assert isinstance(layers[2], nn.Identity)
    assert isinstance(layers[:2], nn.LayerList)
    with pytest.raises(OutOfRangeError, match="it has 3"):
        _ = layers[3]


def test_layer_dict() -> None:
    layers = nn.LayerDict(OrderedDict(a=nn.ReLU(), b=nn.Linear(2, 2)))
    layers["c"] = nn.Tanh()
    assert list(layers) == list(layers.keys()) == ["a", "b", "c"]
    assert "b" in layers
    assert isinstance(layers.pop("a"), nn.ReLU)
    layers.update([("b", nn.Identity()), ("d", nn.ReLU())])
    assert [type(v).__name__ for _, v in layers.items()] == ["Identity", "Tanh", "ReLU"]
    del layers["d"]
    assert len(layers.values()) == len(layers) == 2
    layers.clear()
    assert len(layers) == 0
    with pytest.raises(ArgumentError, match="item 0 must be a name and a layer"):
        layers.update([("a", 1, 2)])


def test_parameter_list() -> None:
    owner = nn.Layer()
    parameters = nn.ParameterList([owner.create_parameter([n + 1]) for n in range(2)])
    parameters.append(owner.create_parameter([5]))
    owner.many = parameters
    assert [p.shape for p in parameters] == [[1], [2], [5]]
    assert [n for n, _ in owner.named_parameters()] == ["many.0", "many.1", "many.2"]
    parameters[0] = owner.create_parameter([7])
    assert parameters[-3].shape == [7]
    assert len(parameters) == 3
    with pytest.raises(DTypeError, match="takes parameters"):
        parameters[0] = 3
