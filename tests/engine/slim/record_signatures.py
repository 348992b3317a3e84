"""Records signatures of PaddleSlim and of Paddle's static.quantization: run it where both are installed.

``python tests/engine/slim/record_signatures.py`` writes ``signatures.json`` next to itself: the parameters of
each function in order, with the text of their defaults.
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
from pathlib import Path
from typing import Any

NAMES = {
    "paddleslim.quant": (
        "convert",
        "quant_aware",
        "quant_embedding",
        "quant_post",
        "quant_post_dynamic",
        "quant_post_only_weight",
        "quant_post_static",
    ),
    "paddleslim": ("PTQ", "QAT"),
    "paddleslim.dygraph.quant": (
        "AbsmaxQuantizer",
        "HistQuantizer",
        "KLQuantizer",
        "PTQ",
        "PTQ.quantize",
        "PTQ.save_quantized_model",
        "PerChannelAbsmaxQuantizer",
        "QAT",
        "QAT.quantize",
        "QAT.save_quantized_model",
    ),
    "paddleslim.quant.observers": (
        "AVGObserver",
        "AbsMaxChannelWiseWeightObserver",
        "AbsmaxObserver",
        "EMDObserver",
        "GroupWiseWeightObserver",
        "HistObserver",
        "KLObserver",
        "MSEChannelWiseWeightObserver",
        "MSEObserver",
    ),
    "paddleslim.quant.quanters": (
        "ActLSQplusQuanter",
        "FakeQuanterChannelWiseAbsMaxObserver",
        "PACTQuanter",
        "WeightLSQplusQuanter",
    ),
    "paddle.static.quantization": (
        "PostTrainingQuantization",
        "PostTrainingQuantization.quantize",
        "PostTrainingQuantization.save_quantized_model",
        "PostTrainingQuantizationProgram",
        "WeightQuantization",
        "WeightQuantization.quantize_weight_to_int",
        "WeightQuantization.convert_weight_to_fp16",
        "convert",
        "quant_aware",
    ),
}


def parameters(function: Any) -> list[list[Any]]:
    """Name, kind and text of the default (None: there is none) of each parameter."""
    found = inspect.signature(function).parameters.values()
    return [[p.name, p.kind.name, None if p.default is p.empty else repr(p.default)] for p in found]


def signatures() -> dict[str, list[list[Any]]]:
    """The signatures of all ``NAMES`` in what is installed under these names."""
    found = {}
    for module, names in NAMES.items():
        for name in names:
            owner: Any = importlib.import_module(module)
            for part in name.split("."):
                owner = getattr(owner, part)
            found[f"{module}.{name}"] = parameters(owner)
    return found


if __name__ == "__main__":
    path = Path(__file__).with_name("signatures.json")
    lines = [f"{json.dumps(name)}: {json.dumps(each)}" for name, each in signatures().items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    sys.exit()
