"""A small GAN of two discriminators: three optimizers over one guard, none of which is given parameters.

``minimize`` without a list updates every parameter of the guard that has a gradient, so what each step moves
follows from where its gradients flow: ``detach`` keeps those of the discriminators from the generator.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine import fluid
from engine.fluid.dygraph import FC, BatchNorm, Conv2D, Conv2DTranspose
from tests.engine.fluid.networks.training import (
    STEPS,
    Run,
    agree,
    first_values,
    in_scope,
    placeholders,
    seeded,
    static,
    values,
)

RNG = np.random.default_rng(3)
BATCHES = [
    {
        "noise": RNG.normal(size=(4, 6)).astype(np.float32),
        "real": RNG.normal(size=(4, 1, 8, 8)).astype(np.float32),
    }
    for _ in range(STEPS)
]


class Generator(fluid.dygraph.Layer):
    def __init__(self, name_scope: str) -> None:
        super().__init__(name_scope)
        self._fc = FC(self.full_name(), 4 * 4 * 4, act="tanh")
        self._up = Conv2DTranspose(
            self.full_name(), num_filters=3, filter_size=4, stride=2, padding=1, bias_attr=False
        )
        self._norm = BatchNorm(self.full_name(), 3, act="relu")
        self._out = Conv2D(self.full_name(), 1, 3, padding=1, act="tanh")

    def forward(self, noise: Any) -> Any:
        x = fluid.layers.reshape(self._fc(noise), [-1, 4, 4, 4])
        return self._out(self._norm(self._up(x)))


class Discriminator(fluid.dygraph.Layer):
    def __init__(self, name_scope: str, slope: float) -> None:
        super().__init__(name_scope)
        self._conv = Conv2D(self.full_name(), 3, 4, stride=2, padding=1)
        self._fc = FC(self.full_name(), 1)
        self._slope = slope

    def forward(self, image: Any) -> Any:
        return self._fc(fluid.layers.leaky_relu(self._conv(image), alpha=self._slope))


def towards(answer: float, logits: Any) -> Any:
    """The mean cross entropy of logits when ``answer`` is right."""
    target = fluid.layers.fill_constant_batch_size_like(logits, [-1, 1], "float32", answer)
    return fluid.layers.reduce_mean(fluid.layers.sigmoid_cross_entropy_with_logits(x=logits, label=target))


def discriminator_loss(net: Any, real: Any, fake: Any) -> Any:
    return (towards(1.0, net(real)) + towards(0.0, net(fake))) * 0.5


def generator_loss(one: Any, other: Any, fake: Any) -> Any:
    return fluid.layers.elementwise_add(towards(1.0, one(fake)), towards(1.0, other(fake)))


def networks() -> tuple[Any, Any, Any]:
    return Generator("gan"), Discriminator("gan", 0.2), Discriminator("gan", 0.02)


def optimizers() -> tuple[Any, Any, Any]:
    """One for each network; only the generator's step reaches all three."""
    sgd = fluid.optimizer.SGDOptimizer
    return fluid.optimizer.AdamOptimizer(0.01, beta1=0.5), sgd(0.05), sgd(0.02)


def in_a_guard() -> tuple[Run, list[set[str]]]:
    """The run, and the names of the parameters that the three ``minimize`` of the last step have moved."""
    with fluid.dygraph.guard():
        seeded()
        nets, rules = networks(), optimizers()
        generator, one, other = nets
        first: dict[str, Any] = {}
        rows: list[list[Any]] = []
        for batch in BATCHES:
            noise, real = (fluid.dygraph.to_variable(batch[name]) for name in ("noise", "real"))
            losses: list[Any] = []
            moved: list[set[str]] = []

            def step(rule: Any, loss: Any, losses: Any = losses, moved: Any = moved) -> None:
                nonlocal first
                before = {name: value for net in nets for name, value in first_values(net).items()}
                first = before | first  # what was there at the steps before stays
                loss.backward()
                rule.minimize(loss)
                for net in nets:
                    net.clear_gradients()
                after = {name: value for net in nets for name, value in first_values(net).items()}
                moved.append({name for name in before if np.any(before[name] != after[name])})
                losses.append(loss.numpy())

            fake = generator(noise)
            step(rules[1], discriminator_loss(one, real, fake.detach()))
            step(rules[2], discriminator_loss(other, real, fluid.dygraph.to_variable(fake.numpy())))
            step(rules[0], generator_loss(one, other, generator(noise)))
            rows.append(losses)
        last = {name: value for net in nets for name, value in values(net).items()}
        return Run(first, last, rows, []), moved


def as_programs() -> Run:
    """Three Programs over one scope; the second is fed what the first one's generator makes."""
    with static():
        given = {**BATCHES[0], "fake": BATCHES[0]["real"]}
        programs = []
        executor = fluid.Executor(fluid.CPUPlace())
        for number in (1, 2, 0):
            main, startup = fluid.Program(), fluid.Program()
            with fluid.program_guard(main, startup):
                with fluid.unique_name.guard():  # the same parameters in each
                    seeded()
                    nets = generator, one, other = networks()
                    noise, real, fake = placeholders(given).values()
                    if number == 1:
                        fake = generator(noise)
                        fake.stop_gradient = True
                        loss = discriminator_loss(one, real, fake)
                    elif number == 2:
                        loss = discriminator_loss(other, real, fake)
                    else:
                        loss = generator_loss(one, other, generator(noise))
                with fluid.unique_name.guard(f"rule_{number}_"):
                    optimizers()[number].minimize(loss)
            executor.run(startup)
            programs.append((main, loss, fake))
        every = [parameter for net in nets for parameter in net.parameters()]
        first = in_scope([parameter.name for parameter in every if parameter.trainable])
        rows = []
        for batch in BATCHES:
            (main, loss, fake), (second, its_loss, _), (third, last_loss, _) = programs
            a, made = executor.run(main, feed=batch, fetch_list=[loss, fake])
            (b,) = executor.run(second, feed={"real": batch["real"], "fake": made}, fetch_list=[its_loss])
            (c,) = executor.run(third, feed={"noise": batch["noise"]}, fetch_list=[last_loss])
            rows.append([a, b, c])
        return Run(first, in_scope([parameter.name for parameter in every]), rows, [])


def test_three_optimizers_over_one_guard_are_three_programs() -> None:
    eager, moved = in_a_guard()
    program = as_programs()
    agree(eager, program)
    generator, one, other = (
        {name for name in eager.first if part in name}
        for part in ("Generator_0", "Discriminator_0", "Discriminator_1")
    )
    assert moved == [one, other, generator | one | other]
