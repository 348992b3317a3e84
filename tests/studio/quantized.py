"""A report of a quantization as an event carries it, for tests that do not quantize."""

from __future__ import annotations

from typing import Any

NAMES = tuple(f"digit {number}" for number in range(10))


def layer(name: str, noise: float, drop: float | None, quantized: bool = True) -> dict[str, Any]:
    """One layer; one in float has no measures."""
    return {
        "name": name,
        "op": "mul" if name.startswith("fc") else "conv2d",
        "weight": f"{name}.w_0",
        "quantized": quantized,
        "threshold": 2.5 if quantized else None,
        "noise_to_signal": noise if quantized else None,
        "weight_noise_to_signal": noise / 8 if quantized else None,
        "drop": drop if quantized else None,
    }


def report(**changes: Any) -> dict[str, Any]:
    """LeNet in int8: smaller, a little less accurate, slower."""
    difference = [[0] * 10 for _ in range(10)]
    difference[4][4], difference[4][9] = -2, 2
    plain = {
        "version": 1,
        "method": "post_training",
        "algo": "hist",
        "weight_bits": 8,
        "activation_bits": 8,
        "weight_type": "channel_wise_abs_max",
        "samples": 320,
        "seconds": 0.84,
        "skipped": [{"layer": "fc3", "why": "it fits the pattern fc3"}],
        "layers": [
            layer("conv1", 0.0002, 0.0),
            layer("conv2", 0.0008, 0.06),
            layer("fc1", 0.0021, 0.02),
            layer("fc2", 0.0013, -0.02),
            layer("fc3", 0.0, None, quantized=False),
        ],
        "accuracy": {"float": 0.977, "quantized": 0.9758, "samples": 5000},
        "per_class": {
            "classes": list(NAMES),
            "float": [0.98] * 10,
            "quantized": [0.98] * 4 + [0.96] + [0.98] * 5,
        },
        "confusion_difference": difference,
        "changed": [
            {"index": 17, "label": 4, "float": 4, "quantized": 9},
            {"index": 40, "label": 4, "float": 4, "quantized": 9},
        ],
        "changed_count": 2,
        "sizes": {
            "float": {"pdmodel": 9000, "pdiparams": 248287},
            "quantized": {"pdmodel": 14000, "pdiparams": 66041},
        },
        "latency": {"float": 0.00031, "quantized": 0.00052},
        "difference": 0.41,
    }
    return {**plain, **changes}
