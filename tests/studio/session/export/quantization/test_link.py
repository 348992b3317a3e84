"""The operators of a layer: that which multiplies by its weight, and those that quantize the weight."""

from __future__ import annotations

from typing import Any

from engine.quantization.report import LayerReport
from studio.session.export.quantization.link import layer_at, places_of


def op(kind: str, inputs: list[str], outputs: list[str]) -> dict[str, Any]:
    return {"type": kind, "inputs": {"X": inputs}, "outputs": {"Out": outputs}}


def layer(name: str, weight: str) -> LayerReport:
    return LayerReport(name=name, op="mul", weight=weight, quantized=True)


def test_the_operators_of_a_weight() -> None:
    program = {
        "blocks": [
            {
                "idx": 0,
                "ops": [
                    op("dequantize_linear", ["w1", "w1@scale"], ["w1.deq"]),
                    op("quantize_linear", ["x", "s"], ["x.q"]),
                    op("dequantize_linear", ["x.q", "s"], ["x.deq"]),
                    op("conv2d", ["x.deq", "w1.deq"], ["y"]),
                    op("mul", ["y", "w2"], ["z"]),
                ],
            }
        ]
    }
    places = places_of(
        program, [layer("conv1", "w1"), layer("fc", "w2"), layer("gone", "w3"), layer("no", "")]
    )
    assert places == {"conv1": [(0, 3), (0, 0)], "fc": [(0, 4)]}
    assert layer_at(places, (0, 0)) == "conv1"
    assert layer_at(places, (0, 4)) == "fc"
    assert layer_at(places, (0, 1)) == layer_at(places, None) == ""


def test_without_a_program_there_are_none() -> None:
    assert places_of({}, [layer("conv1", "w1")]) == {}
