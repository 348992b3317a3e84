"""Steps of a training in the debugger: what they give, and where they go wrong."""

from __future__ import annotations

import json
import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core.errors import ArgumentError, DataError
from engine.debugger import Breakpoint, Debugger, of_config, of_run
from engine.files.checkpoint import read_checkpoint
from engine.training import TrainingRun
from engine.training.randomness import random_state
from tests.engine.debugger.subjects.conftest import Config
from tests.engine.training.number_data import number_arrays

LOG = "return paddle.log(x * 0.0) if number == {} else x"


def line_of(config: Any, text: str) -> int:
    lines = Path(config.model.rpartition(":")[0]).read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if text in line)


def test_steps_give_the_bits_of_the_training(config: Config, tmp_path: Path) -> None:
    out = tmp_path / "run"
    settings = config(optimizer="momentum", out=str(out), checkpoint_every=4, epochs=1, batch_size=1000)
    TrainingRun(settings).run()
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    outside = random_state()
    debugger = Debugger(of_run(out, checkpoint=4))
    assert debugger.batch == 5
    stop = debugger.until_nan(batches=4)
    assert stop.reason == "finite"
    debugger.next_batch()
    trained = read_checkpoint(out / "checkpoints" / "step-00000008.h5")["model"]
    network = debugger._subject._rehearsal.stepper.network
    for name, value in network.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), trained[name], err_msg=name)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    assert pickle.dumps(random_state()) == pickle.dumps(outside)
    # The batch of a later step is the same, trained or stepped to.
    later = Debugger(of_run(out, checkpoint=4, batch=9))
    for name in ("x", "label"):
        np.testing.assert_array_equal(later.array(name), debugger.array(name))
    debugger.restart()
    assert debugger.batch == 5
    assert debugger.until_nan().reason == "finite"


@pytest.mark.parametrize("seed", range(3))
def test_a_fault_in_the_forward_is_found_at_the_very_operator(config: Config, seed: int) -> None:
    number = random.Random(seed).randrange(6)
    settings = config(LOG.format(number))
    stop = Debugger(of_config(settings)).until_nan()
    assert (stop.reason, stop.part, stop.operator) == ("not finite", "forward", "log")
    assert (Path(stop.file).name, stop.line) == ("net.py", line_of(settings, "paddle.log(x * 0.0)"))
    assert stop.inputs[0]["minimum"] == stop.inputs[0]["maximum"] == 0.0
    assert stop.outputs[0]["negative_infinite"] == 16 * 8


@pytest.mark.parametrize("seed", range(3))
def test_a_fault_in_the_backward_is_found(config: Config, seed: int) -> None:
    number = random.Random(seed).randrange(6)
    settings = config(f"return paddle.sqrt(x * 0.0) if number == {number} else x")
    stop = Debugger(of_config(settings)).until_nan()
    assert (stop.reason, stop.part) == ("not finite", "backward")
    assert stop.line == line_of(settings, "paddle.sqrt")


@pytest.mark.parametrize("seed", range(3))
def test_a_fault_in_a_py_layer_is_found(config: Config, seed: int) -> None:
    number = random.Random(seed).randrange(6)
    settings = config(f"return Bad.apply(x) if number == {number} else x")
    stop = Debugger(of_config(settings)).until_nan()
    assert (stop.reason, stop.part, stop.operator) == ("not finite", "backward", "log")
    assert stop.line == line_of(settings, "Bad.apply")


@pytest.mark.parametrize("seed", range(3))
def test_a_fault_in_the_update_of_one_weight_is_found(config: Config, seed: int) -> None:
    number = random.Random(seed).randrange(6)
    debugger = Debugger(of_config(config(fast=number, optimizer="sgd", learning_rate=10.0)))
    stop = debugger.until_nan()
    assert (stop.reason, stop.part, stop.layer) == ("not finite", "update", f"blocks.{number}")
    assert debugger.parts[-1].rows[stop.where[0][1]] == f"blocks.{number}.weight"


def test_a_fault_in_the_update_is_found(config: Config) -> None:
    settings = config("return x * 1000.0", optimizer="sgd", learning_rate=1e38)
    stop = Debugger(of_config(settings)).until_nan(batches=3)
    assert (stop.reason, stop.part, stop.operator, stop.batch) == ("not finite", "update", "sgd", 1)
    assert stop.layer
    before, gradient = stop.inputs
    assert before["maximum"] is not None
    assert gradient["name"] == before["name"] + "@GRAD"


@pytest.mark.parametrize("seed", range(3))
def test_a_fault_in_a_loop_is_found_in_its_iteration(config: Config, seed: int) -> None:
    number, iteration = random.Random(seed).randrange(6), random.Random(seed).randrange(1, 5)
    settings = config(
        f"if number != {number}:\n    return x\n"
        "count = paddle.zeros([1])\n"
        "while count < 5:\n"
        f"    x = x + paddle.log({2.0 * iteration} - 2.0 * count)\n"
        "    count = count + 1\n"
        "return x"
    )
    debugger = Debugger(of_config(settings))
    stop = debugger.until_nan()
    assert (stop.reason, stop.operator, stop.iterations) == ("not finite", "log", [iteration])
    assert len(stop.where) == 2
    assert stop.line == line_of(settings, "x = x + paddle.log(")
    assert stop.inputs[0]["maximum"] == 0.0
    debugger.step_back()
    assert debugger.stop.operator != "log"


def test_infinity_that_masks_are_filled_with_is_no_fault(config: Config) -> None:
    fill = "x = paddle.where(x > 0.5, paddle.full_like(x, float('-inf')), x)\n"
    debugger = Debugger(of_config(config(f"{fill}return paddle.exp(x)")))
    stop = debugger.until_nan()
    assert (stop.reason, stop.found) == ("finite", False)
    assert "but for infinity that is filled in" in stop.message
    stop = Debugger(of_config(config(f"{fill}return x - x"))).until_nan()
    assert (stop.reason, stop.operator) == ("not finite", "elementwise_sub")
    assert "has infinity already" in stop.message
    # From the middle of a batch it is the same operator.
    debugger = Debugger(of_config(config(f"{fill}return x - x")))
    debugger.go_to(stop.position - 1)
    assert debugger.until_nan().position == stop.position


def test_an_operator_that_fails_stops_there(config: Config) -> None:
    settings = config("assert number < 4 or (paddle.abs(x) > 2.0).all(), 'too small'\nreturn x")
    debugger = Debugger(of_config(settings))
    stop = debugger.resume()
    assert (stop.reason, stop.part) == ("failed", "forward")
    assert "too small" in stop.message
    assert stop.line == line_of(settings, "too small")
    assert debugger.view(debugger._timeline.records[0].outputs[0])["count"] > 0


def test_breakpoints_on_layers_and_lines(config: Config) -> None:
    settings = config()
    debugger = Debugger(of_config(settings))
    number = debugger.add_breakpoint(Breakpoint("layer", layer="blocks.3"))
    assert debugger.resume().layer == "blocks.3"
    debugger.remove_breakpoint(number)
    line = line_of(settings, "paddle.tanh")
    debugger.add_breakpoint(Breakpoint("line", file="net.py", line=line - 1))
    stop = debugger.resume()
    assert stop.line == line - 1 or stop.line == line


def test_a_change_of_a_weight_goes_into_the_next_batch(config: Config) -> None:
    debugger = Debugger(of_config(config(optimizer="sgd")))
    name = next(row["name"] for row in debugger.values() if row["name"].startswith("linear"))
    debugger.change(name, "fill", 0.0)
    debugger.resume()
    debugger.next_batch()
    assert abs(debugger.view(name)["maximum"]) < 0.1
    debugger.restart()
    assert debugger.view(name)["deviation"] > 0.01


def test_the_parts_are_plain(config: Config) -> None:
    debugger = Debugger(of_config(config()))
    json.dumps([part.plain() for part in debugger.parts], default=str)
    for part in debugger.parts:
        if part.program is not None:
            for site in part.sites:
                block, op = site.where[-1]
                blocks = {each["idx"]: each for each in part.program["blocks"]}
                assert op < len(blocks[block]["ops"])
    assert [part.name for part in debugger.parts] == ["forward", "backward", "update"]
    while (stop := debugger.step()).reason == "step":
        if stop.part == "forward":
            (block, op), *_ = stop.where
            assert debugger.parts[0].program["blocks"][block]["ops"][op]["type"] == stop.operator


def test_a_run_that_diverged_is_found_from_its_folder(config: Config, tmp_path: Path) -> None:
    out = tmp_path / "run"
    settings = config(
        "return paddle.log(paddle.exp(5.0 * self.blocks[0](x))) if number == 5 else x",
        optimizer="sgd",
        learning_rate=1.0,
        out=str(out),
        checkpoint_every=3,
        epochs=2,
        batch_size=1000,
    )
    result = TrainingRun(settings).run()
    assert (result.reason, result.step) == ("diverged", 4)
    debugger = Debugger(of_run(out))
    stop = debugger.until_nan()
    assert (stop.reason, stop.operator, stop.batch) == ("not finite", "exp", 5)
    assert stop.outputs[0]["positive_infinite"] > 0
    assert stop.inputs[0]["maximum"] > 88.8
    assert "the loss is not a finite number" in debugger.notes[0]


def test_a_run_that_failed_stops_at_the_operator_that_failed(config: Config, tmp_path: Path) -> None:
    out = tmp_path / "run"
    changed = "assert number != 2 or (paddle.abs(self.blocks[2].weight) < 0.9).all(), 'too large'\nreturn x"
    settings = config(changed, optimizer="adam", learning_rate=0.1, out=str(out), checkpoint_every=2)
    with pytest.raises(Exception, match="too large"):
        TrainingRun(settings).run()
    debugger = Debugger(of_run(out))
    assert debugger.batch > 2
    stop = debugger.until_nan()
    assert (stop.reason, stop.batch, stop.part) == ("failed", debugger.batch, "forward")
    assert "too large" in stop.message
    assert stop.line == line_of(settings, "too large")
    assert f"the run ended at step {stop.batch}: " in debugger.notes[0]
    weight = next(row for row in debugger.values() if row["shape"] == [8, 8])
    assert weight["position"] == 0


def test_numbers_are_predicted(config: Config, tmp_path: Path) -> None:
    inputs, targets = number_arrays()
    np.savez(tmp_path / "numbers.npz", x=inputs, y=targets[:, 0])
    settings = config(
        data=str(tmp_path / "numbers.npz"), model="mlp", kind="auto", label_name="y", task="numbers"
    )
    debugger = Debugger(of_config(settings))
    assert debugger.until_nan(batches=3).reason == "finite"
    assert debugger.batch == 3
    suggested = Debugger(of_config(settings.changed(model="auto")))
    assert suggested.until_nan().reason == "finite"


def test_other_checkpoints_and_steps_are_refused(config: Config, tmp_path: Path) -> None:
    out = tmp_path / "run"
    TrainingRun(config(out=str(out), epochs=1, checkpoint_every=4, batch_size=1000)).run()
    with pytest.raises(ArgumentError, match="no checkpoint of step 3"):
        of_run(out, checkpoint=3)
    with pytest.raises(ArgumentError, match="there is no step 10000"):
        of_run(out, batch=10000)
    with pytest.raises(ArgumentError, match="from 1"):
        of_run(out, batch=0)
    with pytest.raises(DataError, match="no sound checkpoint"):
        of_run(tmp_path / "nowhere")
    with pytest.raises(ArgumentError, match="step 2 is before the checkpoint"):
        of_run(out, checkpoint=4, batch=2)


LATER: dict[str, dict[str, Any]] = {
    "further: eager": {"static": False},
    "further: recomputed": {"recompute": True},
    "further: step decay": {
        "optimizer": "adam",
        "schedule": "step_decay",
        "schedule_params": {"step_size": 1},
    },
    "plateau": {"optimizer": "momentum", "schedule": "reduce_on_plateau", "schedule_params": {"patience": 0}},
    "lbfgs": {"optimizer": "lbfgs"},
    "further: sampling": {"clip_norm": 0.1, "balance": "sampling"},
    "further: weights": {"balance": "weights", "loss": "label_smoothing"},
    "further: augmented": {"layers_every": 2, "shift": 2, "rotate": 10.0},
}


@pytest.mark.parametrize("settings", LATER.values(), ids=LATER.keys())
def test_a_later_step_is_that_of_the_run(config: Config, tmp_path: Path, settings: dict[str, Any]) -> None:
    """Over the end of an epoch: what was trained, what was stepped to, and what the run has saved."""
    out = tmp_path / "run"
    made = config(
        out=str(out), checkpoint_every=2, epochs=3, samples=400, batch_size=110, keep=20, **settings
    )
    TrainingRun(made).run()
    first = Debugger(of_run(out, checkpoint=2))
    assert first.batch == 3
    assert first.until_nan(batches=4).reason == "finite"
    assert first.next_batch().batch == 7
    later = Debugger(of_run(out, checkpoint=2, batch=7))
    saved = read_checkpoint(out / "checkpoints" / "step-00000006.h5")["model"]
    # Eager batch norms round otherwise than those of a Program.
    exact = settings.get("static", True)
    for name, value in first._subject._rehearsal.stepper.network.state_dict().items():
        trained = later._subject._rehearsal.stepper.network.state_dict()[name].numpy()
        np.testing.assert_array_equal(trained, saved[name], err_msg=name)
        if exact:
            np.testing.assert_array_equal(value.numpy(), saved[name], err_msg=name)
        np.testing.assert_allclose(value.numpy(), saved[name], 1e-4, 1e-5, err_msg=name)
    np.testing.assert_array_equal(later.array("x"), first.array("x"))
    new = Debugger(of_config(made, 7))
    np.testing.assert_array_equal(new.array("x"), later.array("x"))
