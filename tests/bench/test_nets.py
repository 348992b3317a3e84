"""The networks of the benches: jobs travel as text, and every network does the same eagerly and converted."""

import numpy as np
import pytest

import engine
from bench.nets import ROWS, Job, Weights, cross_entropy
from bench.peers.paddle_nets import NETWORKS, network
from bench.peers.paddle_steps import predicting, training
from bench.sequences import CHOSEN

TINY = {
    "lenet": Job("lenet", 2),
    "mlp": Job("mlp", 3, (6, 5, 10)),
    "vgg": Job("vgg", 2, (2, 3)),
    "resnet": Job("resnet", 1),
    "mobilenet": Job("mobilenet", 1),
    "lstm": Job("lstm", 2, (3, 4, 5)),
    "gru": Job("gru", 2, (3, 4, 5)),
    "transformer": Job("transformer", 2, (3, 8, 1)),
}


def test_every_network_is_there_and_every_job_travels() -> None:
    assert TINY.keys() == NETWORKS.keys()
    rows = {**ROWS, **CHOSEN}
    assert {row.job.net for row in rows.values() if row.kind != "operator"} == NETWORKS.keys()
    for row in rows.values():
        assert Job.read(row.job.text()) == row.job


@pytest.mark.parametrize("name", TINY)
def test_networks_answer_with_ten_numbers(name: str) -> None:
    job = TINY[name]
    model = network(engine, job)
    model.eval()
    logits = model(engine.to_tensor(job.data()[0])).numpy()
    assert logits.shape == (job.batch, 10)
    assert logits.std() > 0


@pytest.mark.parametrize("name", ["lenet", "mlp", "lstm", "transformer"])
def test_every_mode_trains_alike(name: str) -> None:
    losses = []
    for mode in ("eager", "layer", "static"):
        step = training(engine, mode, TINY[name])
        losses.append([float(step()) for _ in range(3)])
    assert losses[0][2] < losses[0][0]
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)
    assert losses[2] == pytest.approx(losses[0], rel=1e-5)


def test_a_saved_network_predicts_as_before() -> None:
    job = Job("lenet", 2)
    eager, saved = (predicting(engine, mode, job)() for mode in ("eager", "static"))
    np.testing.assert_allclose(saved, eager, rtol=1e-4, atol=1e-5)
    _, labels = job.data()
    assert cross_entropy(saved, labels) == pytest.approx(cross_entropy(eager, labels), rel=1e-4)


def test_weights_depend_on_their_shape_and_turn() -> None:
    one, other = Weights(), Weights()
    other.linear(3, 4)
    first = one.convolution((2, 3, 5, 5))
    assert np.array_equal(first, other.convolution((2, 3, 5, 5)))
    assert not np.array_equal(first, one.convolution((2, 3, 5, 5)))


def test_the_loss_of_answers() -> None:
    logits = np.log(np.array([[0.5, 0.25, 0.25], [0.2, 0.7, 0.1]], np.float32))
    assert cross_entropy(logits, np.array([0, 2])) == pytest.approx(-np.log([0.5, 0.1]).mean())
