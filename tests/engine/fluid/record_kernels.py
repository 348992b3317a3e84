"""Records what Paddle's kernels of fluid's operators compute; run by an interpreter that has Paddle 2.6.2.

``python -m tests.engine.fluid.record_kernels`` writes ``recorded_kernels.json`` next to this file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tests.engine.fluid.kernel_cases import (
    BY_EPOCH,
    CASES,
    DECAYS,
    LOSSES,
    OPTIMIZERS,
    PLATEAUS,
    RUNS,
    UPDATED,
)


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
    for case, (inputs, there, _) in CASES.items():
        values = [paddle.to_tensor(a, stop_gradient=a.dtype.kind != "f") for a in inputs]
        made = there(kernels, *values)
        made = list(made) if isinstance(made, (list, tuple)) else [made]
        squares = [(each**2).sum() for each in made if not each.stop_gradient]
        if squares:
            sum(squares).backward()
        found[case] = {
            "outputs": listed(made),
            "gradients": [None if v.grad is None else listed([v.grad])[0] for v in values],
        }
    for case, (kind, options) in OPTIMIZERS.items():
        parameter = paddle.create_parameter([3, 2], "float32")
        parameter.set_value(UPDATED[0])
        optimizer = getattr(paddle.optimizer, kind)(0.1, **options, parameters=[parameter])
        steps = []
        for gradient in UPDATED[1:]:
            (parameter * paddle.to_tensor(gradient)).sum().backward()
            optimizer.step()
            optimizer.clear_grad()
            steps.append(listed([parameter])[0])
        found[f"optimizer {case}"] = {"steps": steps}
    for case, (name, arguments) in BY_EPOCH.items():
        decay, rates = getattr(paddle.optimizer.lr, name)(*arguments), []
        for _ in range(RUNS):
            rates.append(decay())
            decay.step()
        found[f"decay {case}"] = {"rates": [float(f"{each:.8g}") for each in rates]}
    for case, options in PLATEAUS.items():
        decay, rates = paddle.optimizer.lr.ReduceOnPlateau(0.5, factor=0.7, **options), []
        for loss in LOSSES:
            decay.step(paddle.to_tensor([loss]))
            rates.append(decay())
        found[f"plateau {case}"] = {"rates": [float(f"{each:.8g}") for each in rates]}
    paddle.enable_static()
    for case, (name, arguments) in DECAYS.items():
        main = paddle.static.Program()
        with paddle.static.program_guard(main, startup := paddle.static.Program()):
            rate = getattr(paddle.optimizer.lr, name)(*arguments)
        executor = paddle.static.Executor()
        executor.run(startup)
        rates = [executor.run(main, fetch_list=[rate])[0] for _ in range(RUNS)]
        found[f"decay {case}"] = {"rates": [float(f"{float(each[0]):.8g}") for each in rates]}
    found["version"] = paddle.__version__
    path = Path(__file__).with_name("recorded_kernels.json")
    path.write_text(
        "{\n" + ",\n".join(f'"{k}": {json.dumps(v)}' for k, v in found.items()) + "\n}\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
