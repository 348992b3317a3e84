"""Records what Paddle's kernels of fluid's operators compute; run by an interpreter that has Paddle.

``python tests/engine/fluid/record_kernels.py`` writes ``recorded_kernels.json`` beside this file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np


def drawn(*shapes: tuple[int, ...]) -> list[Any]:
    """The inputs of a case."""
    rng = np.random.default_rng(0)
    return [rng.normal(size=shape).round(3).astype(np.float32) for shape in shapes]


SHAPES: dict[str, list[tuple[int, ...]]] = {
    "gru_unit": [(2, 9), (2, 3), (3, 9), (1, 9)],
    "bilinear_tensor_product": [(2, 3), (2, 4), (5, 3, 4), (1, 5)],
    "row_conv": [(2, 4, 3), (3, 3)],
    "prelu": [(2, 3, 2, 2), (1, 3, 1, 1)],
    "decayed_adagrad": [(3, 2), (3, 2), (3, 2)],
    "ftrl": [(3, 2), (3, 2), (3, 2)],
    "lars_momentum": [(3, 2), (3, 2), (3, 2)],
}
RULES = {
    "decayed_adagrad": {"decay": 0.9, "epsilon": 1e-4},
    "ftrl": {"l1": 0.05, "l2": 0.1, "lr_power": -0.5},
    "ftrl -0.3": {"l1": 0.05, "l2": 0.1, "lr_power": -0.3},
    "lars_momentum": {"mu": 0.9, "lars_coeff": 0.5, "lars_weight_decay": 0.05},
}


def main() -> None:
    import paddle
    from paddle import _legacy_C_ops as kernels

    def tensors(name: str) -> Any:
        return [paddle.to_tensor(a, stop_gradient=False) for a in drawn(*SHAPES[name])]

    def listed(values: Any) -> Any:
        return [v.numpy().astype(float).round(7).tolist() for v in values]

    found = {}
    for name, outputs, call in (
        ("gru_unit", 3, lambda v: kernels.gru_unit(*v, "activation", 2, "gate_activation", 1)),
        ("bilinear_tensor_product", 1, lambda v: kernels.bilinear_tensor_product(*v)),
        ("row_conv", 1, lambda v: kernels.row_conv(*v)),
        ("prelu", 1, lambda v: kernels.prelu(*v, "mode", "channel", "data_format", "NCHW")),
    ):
        inputs = tensors(name)
        made = call(inputs)
        made = list(made) if outputs > 1 else [made]
        (made[-1] ** 2).sum().backward()
        found[name] = {"outputs": listed(made), "gradients": listed([v.grad for v in inputs])}
    for case, options in RULES.items():
        name = case.split()[0]
        parameter, *gradients = [paddle.to_tensor(a) for a in drawn(*SHAPES[name])]
        rate = paddle.to_tensor(np.array([0.1], np.float32))
        zeros = [paddle.zeros_like(parameter) for _ in range(2)]
        attrs = [each for pair in options.items() for each in pair]
        steps = []
        for gradient in gradients:
            if name == "decayed_adagrad":
                kernels.decayed_adagrad(parameter, gradient, zeros[0], rate, parameter, zeros[0], *attrs)
            elif name == "ftrl":
                kernels.ftrl(parameter, *zeros, gradient, rate, parameter, *zeros, *attrs)
            else:
                decay = attrs.index("lars_weight_decay") + 1
                given = [*attrs[:decay], [attrs[decay]], *attrs[decay + 1 :]]
                state = [[parameter], [zeros[0]]]
                kernels.lars_momentum(state[0], [gradient], state[1], [rate], *state, *given)
            steps.append(listed([parameter])[0])
        found[case] = {"steps": steps}
    path = Path(__file__).with_name("recorded_kernels.json")
    path.write_text(
        "{\n" + ",\n".join(f'"{k}": {json.dumps(v)}' for k, v in found.items()) + "\n}\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
