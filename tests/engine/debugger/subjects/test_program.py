"""Static Programs in the debugger: their gradients and updates are operators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import static
from engine.core.errors import ArgumentError
from engine.debugger import Debugger, ProgramSubject

Built = tuple[Any, Any, Any]


@pytest.fixture(autouse=True)
def building() -> Iterator[None]:
    paddle.enable_static()
    yield
    paddle.disable_static()


def built(rate: float = 0.1, fault: bool = False) -> Built:
    """Program, startup Program and loss of a regression with dropout; high rates are those of SGD."""
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x, y = static.data("x", [None, 3]), static.data("y", [None, 1])
        hidden = paddle.nn.functional.dropout(static.nn.fc(x, 8, activation="relu"), 0.3)
        out = static.nn.fc(hidden, 1)
        if fault:
            out = out * paddle.log(paddle.mean(x) * 0.0)
        loss = paddle.mean((out - y) ** 2)
        optimizer = paddle.optimizer.SGD(rate) if rate > 1 else paddle.optimizer.Adam(rate)
        optimizer.minimize(loss)
    return main, startup, loss


def feeds(count: int) -> list[dict[str, Any]]:
    draw = np.random.default_rng(5)
    return [
        {
            "x": draw.standard_normal((4, 3)).astype("float32"),
            "y": draw.standard_normal((4, 1)).astype("float32"),
        }
        for _ in range(count)
    ]


def begun(startup: Any, seed: int = 1) -> Any:
    scope = static.Scope()
    paddle.seed(seed)
    static.Executor().run(startup, scope=scope)
    paddle.seed(seed + 1)
    return scope


def test_batches_give_the_bits_of_the_executor() -> None:
    main, startup, loss = built()
    scope = begun(startup)
    debugger = Debugger(ProgramSubject(main, feeds(3), [loss], scope))
    assert [part.name for part in debugger.parts] == ["forward", "backward", "update"]
    assert debugger.until_nan(batches=3).reason == "finite"
    assert (debugger.batch, debugger.stop.part) == (3, "update")
    names = [v.name for v in main.all_parameters()]
    found = {name: debugger.array(name).copy() for name in names}
    found_loss = debugger.array(loss.name).copy()
    executor, scope = static.Executor(), begun(startup)
    for feed in feeds(3):
        (wanted_loss,) = executor.run(main, feed, [loss], scope=scope)
    np.testing.assert_array_equal(found_loss, wanted_loss)
    for name in names:
        np.testing.assert_array_equal(found[name], scope.find_var(name).get_tensor(), err_msg=name)
    assert debugger.next_batch().message == "there are no more batches"
    assert debugger.restart().batch == 1
    assert debugger.until_nan(batches=3).reason == "finite"
    np.testing.assert_array_equal(debugger.array(loss.name), found_loss)


def test_updates_are_operators() -> None:
    main, startup, loss = built()
    debugger = Debugger(ProgramSubject(main, feeds(1), [loss], begun(startup)))
    update = debugger.parts[2]
    assert {site.operator for site in update.sites} >= {"adam"}
    while (stop := debugger.step()).part != "update" or stop.operator != "adam":
        assert stop.reason == "step"
    assert update.program["blocks"][0]["ops"][stop.where[0][1]]["type"] == "adam"
    before, after = stop.inputs[0], stop.outputs[0]
    assert before["name"] == after["name"]
    assert (before["minimum"], before["maximum"]) != (after["minimum"], after["maximum"])


def test_faults_in_forward_and_update_are_found() -> None:
    main, startup, _ = built(fault=True)
    stop = Debugger(ProgramSubject(main, feeds(1), (), begun(startup))).until_nan()
    assert (stop.reason, stop.part, stop.operator) == ("not finite", "forward", "log")
    main, startup, _ = built(rate=3e38)
    debugger = Debugger(
        ProgramSubject(main, [{k: 9 * v for k, v in feeds(1)[0].items()}], (), begun(startup))
    )
    stop = debugger.until_nan()
    assert (stop.reason, stop.part, stop.operator) == ("not finite", "update", "sgd")


def test_a_feed_is_needed() -> None:
    main, startup, _ = built()
    with pytest.raises(ArgumentError, match="a feed for each batch"):
        ProgramSubject(main, [], (), begun(startup))
    with pytest.raises(ArgumentError, match="needs"):
        ProgramSubject(main, [{"x": feeds(1)[0]["x"]}], (), begun(startup))
