"""Which layers of real networks give an alert: none of sound trainings, each planted fault."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from engine import nn
from engine.framework.random import seed
from engine.optimizer import SGD, Adam
from engine.tensor.creation import to_tensor
from engine.training.layers.alerts import LayerAlerts
from engine.training.network.models import build_model, find_model, load_model
from engine.training.stepper import Stepper
from engine.vision import models
from resources.families import FAMILIES, ModelSpec

F = nn.functional


class Attention(nn.Layer):
    """Attention of one head, with the layers that a user writes."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(4, 4) for _ in range(3))
        self.head = nn.Linear(4, 3)

    def forward(self, x: Any) -> Any:
        scores = F.softmax(self.query(x) @ self.key(x).transpose([0, 2, 1]) / 2.0)
        return self.head((scores @ self.value(x)).mean(1))


class Encoder(nn.Layer):
    """Paddle's attention layer."""

    def __init__(self) -> None:
        super().__init__()
        self.attention, self.head = nn.MultiHeadAttention(4, 2), nn.Linear(4, 3)

    def forward(self, x: Any) -> Any:
        return self.head(self.attention(x).mean(1))


class Convolutions(nn.Layer):
    """A convolution with a bias before a norm, and a norm that a further one follows, as MobileNetV2 has."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm = nn.Conv1D(5, 4, 3), nn.BatchNorm1D(4)
        self.second, self.last = nn.Conv1D(4, 6, 1, bias_attr=False), nn.BatchNorm1D(6)
        self.head = nn.Linear(12, 3)
        self.unused = nn.Linear(2, 2)
        self.frozen = nn.Linear(4, 4)
        for parameter in self.frozen.parameters():
            parameter.stop_gradient = True

    def forward(self, x: Any) -> Any:
        x = self.second(self.norm(self.first(self.frozen(x))))
        return self.head(F.relu(self.last(x)).flatten(1))


class Detached(nn.Layer):
    """The output depends on a branch that no gradient reaches."""

    def __init__(self) -> None:
        super().__init__()
        self.trained, self.branch = nn.Linear(20, 3), nn.Linear(20, 3)

    def forward(self, x: Any) -> Any:
        x = x.flatten(1)
        return self.trained(x) + self.branch(x).detach()


class Rectified(nn.Layer):
    """Two layers with a ReLU between them; its bias can be so low that all units are dead."""

    def __init__(self, bias: float = 0.0) -> None:
        super().__init__()
        self.hidden = nn.Linear(20, 8, bias_attr=nn.initializer.Constant(bias))
        self.head = nn.Linear(8, 3)

    def forward(self, x: Any) -> Any:
        return self.head(F.relu(self.hidden(x.flatten(1))))


def alerts(network: Callable[[], nn.Layer], static: bool, rate: float = 0.01) -> list[tuple[str, str]]:
    """Kind and message of what six steps that are all looked at give."""
    seed(3)
    made = network()
    stepper, found = Stepper(made, SGD(rate, parameters=made.parameters()), static, (5, 4)), LayerAlerts()
    draw = np.random.default_rng(1)
    reported: list[tuple[str, str]] = []
    for number in range(6):
        samples = to_tensor(draw.normal(size=(16, 5, 4)).astype(np.float32))
        stepper.watch_layers()
        stepper.train(samples, to_tensor(draw.integers(0, 3, (16, 1))), go_on=True)
        reading = stepper.take_layers()
        assert reading is not None
        reported += [(each["kind"], each["message"]) for each in found.judge(reading, number + 1, 1)]
    return reported


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("network", [Encoder, Rectified])
def test_a_sound_network_gives_no_alert(network: type[nn.Layer], static: bool) -> None:
    assert alerts(network, static) == []


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize(("network", "bias"), [(Attention, "key.bias"), (Convolutions, "first.bias")])
def test_biases_without_effect_give_one_hint(network: type[nn.Layer], bias: str, static: bool) -> None:
    assert alerts(network, static) == [
        (
            "no_effect",
            f"{bias}, step 2: no effect on the output: the norm or softmax that follows subtracts a "
            "constant; bias_attr=False omits such a bias",
        )
    ]


def test_all_biases_without_effect_share_the_hint() -> None:
    class Several(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.convolutions = nn.LayerList([nn.Conv1D(5, 5, 1) for _ in range(5)])
            self.norms = nn.LayerList([nn.BatchNorm1D(5) for _ in range(5)])
            self.head = nn.Linear(20, 3)

        def forward(self, x: Any) -> Any:
            for convolution, norm in zip(self.convolutions, self.norms, strict=True):
                x = F.relu(norm(convolution(x))) + x
            return self.head(x.flatten(1))

    ((kind, message),) = alerts(Several, False)
    assert (kind, message.partition(", step")[0]) == (
        "no_effect",
        "convolutions.0.bias, convolutions.1.bias, convolutions.2.bias and 2 more",
    )


@pytest.mark.parametrize("static", [False, True])
def test_a_detached_branch_is_named_once(static: bool) -> None:
    found = alerts(Detached, static)
    line = inspect.getsourcelines(Detached)[1] + 9  # that calls the branch
    place = f" (test_alerts.py:{line})" if static else ""
    assert [(kind, message.partition(": ")[0]) for kind, message in found] == [
        ("detached", f"branch.weight{place}, step 3"),
        ("detached", f"branch.bias{place}, step 3"),
    ]


def test_dead_units_and_the_layers_before_them_are_named() -> None:
    found = alerts(lambda: Rectified(-1e3), False)
    assert ("dead", "hidden, step 2: 8 of 8 units of its relu are zero for every image") in [
        (kind, message.partition(" of the batch")[0]) for kind, message in found
    ]
    vanishing = [message.partition(",")[0] for kind, message in found if kind == "vanishing"]
    assert vanishing == ["hidden.weight", "hidden.bias", "head.weight"]


def test_a_learning_rate_of_ten_is_noticed() -> None:
    kinds = {kind for kind, _ in alerts(Rectified, False, rate=10.0)}
    assert kinds & {"ratio_high", "exploding", "nan_weights", "nan_gradient"}


def test_a_look_leaves_running_statistics_as_they_are() -> None:
    statistics = []
    for looks in (False, True):
        seed(3)
        network = Convolutions()
        stepper = Stepper(network, SGD(0.01, parameters=network.parameters()), False, (5, 4))
        samples = to_tensor(np.random.default_rng(1).normal(size=(16, 5, 4)).astype(np.float32))
        if looks:
            stepper.watch_layers()
        stepper.train(samples, to_tensor(np.zeros((16, 1), np.int64)))
        statistics.append([network.norm._mean.numpy(), network.norm._variance.numpy()])
        assert network.norm.training
    np.testing.assert_array_equal(statistics[0], statistics[1])


SPECS = {
    "images": ModelSpec("images", (3, 32, 32), 3),
    "table": ModelSpec("table", (20,), 3),
    "sequences": ModelSpec("sequences", (6, 4), 3),
}
ZOO = ("mobilenet_v2", "squeezenet1_1")


def built(name: str) -> tuple[Any, tuple[int, ...]]:
    """A built-in network, or one of vision.models, and the shape of a sample of it."""
    if name in ZOO:
        return getattr(models, name)(num_classes=3), (3, 64, 64)
    spec = next(SPECS[kind] for kind in FAMILIES[name].kinds if not FAMILIES[name].problem(SPECS[kind]))
    return build_model(load_model(find_model(name)), FAMILIES[name].arguments(spec)), spec.shape


@pytest.mark.parametrize("name", [*sorted({*FAMILIES} - {"resnet8", "resnet18"}), *ZOO])
def test_built_in_networks_train_without_an_alert(name: str) -> None:
    seed(0)
    network, shape = built(name)
    stepper = Stepper(network, Adam(1e-3, parameters=network.parameters()), False, shape)
    draw, found = np.random.default_rng(0), LayerAlerts()
    centers = draw.normal(size=(3, *shape))
    for number in range(5):
        labels = draw.integers(0, 3, 16)
        samples = (centers[labels] + draw.normal(size=(16, *shape))).astype(np.float32)
        stepper.watch_layers()
        stepper.train(to_tensor(samples), to_tensor(labels[:, None]))
        reading = stepper.take_layers()
        assert reading is not None
        assert [each["message"] for each in found.judge(reading, number + 1, 1)] == []
