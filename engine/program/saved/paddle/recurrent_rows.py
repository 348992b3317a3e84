"""Paddle's ``rnn``, which holds all layers and directions: an operator for each of them here."""

from __future__ import annotations

from typing import Any

from engine.core.errors import FormatError
from engine.program.graph.program import Variable
from engine.program.saved.paddle.reading import Step
from engine.program.saved.paddle.rows import reads

_MOST_LAYERS = 1024


@reads("rnn")
def _(step: Step) -> None:
    """``WeightList`` holds weight_ih and weight_hh by layer and direction, then all biases likewise."""
    mode, layers = step.attr("mode", "LSTM"), step.attr("num_layers", 1)
    directions = 2 if step.attr("is_bidirec", False) else 1
    weights, states = step.many("WeightList"), step.many("PreState")
    lengths, x = step.one("SequenceLength"), step.need("Input")
    count = layers * directions
    if not 0 < layers <= _MOST_LAYERS or len(weights) not in (2 * count, 4 * count):
        raise FormatError(f"{len(weights)} weights for {layers} layers in {directions} directions")
    if len(states) != (2 if mode == "LSTM" else 1):
        raise FormatError(f"{len(states)} initial states for mode {mode!r:.40}")
    biases: list[Any] = weights[2 * count :] or [None] * (2 * count)
    last: list[list[Variable]] = [[] for _ in states]
    for layer in range(layers):
        if layer and not step.attr("is_test", False) and step.attr("dropout_prob", 0.0):
            x, _ = step.run("dropout", x, dropout_prob=step.attr("dropout_prob"))
        outputs = []
        for direction in range(directions):
            n = layer * directions + direction
            first = [step.run("slice_view", state, index=[n]) for state in states]
            first += [None] * (2 - len(first))
            own = (*weights[2 * n : 2 * n + 2], *biases[2 * n : 2 * n + 2])
            y, *found = step.run("rnn", x, *own, *first, lengths, mode=mode, is_reverse=direction == 1)
            outputs.append(y)
            for part, state in zip(last, found, strict=False):
                part.append(state)
        x = outputs[0] if directions == 1 else step.run("concat", outputs, axis=-1)
    step.give("Out", x)
    step.give("State", [step.run("stack", part, axis=0) for part in last])
