"""The first twenty values of every learning rate schedule."""

_SCHEDULES = {
    "NoamDecay": "NoamDecay(d_model=64, warmup_steps=8)",
    "NoamDecay/rate": "NoamDecay(16, 5, learning_rate=2.0)",
    "PiecewiseDecay": "PiecewiseDecay([3, 6, 9], [0.1, 0.05, 0.01, 0.001])",
    "NaturalExpDecay": "NaturalExpDecay(0.5, 0.1)",
    "InverseTimeDecay": "InverseTimeDecay(0.5, 0.1)",
    "PolynomialDecay": "PolynomialDecay(0.5, 10)",
    "PolynomialDecay/cycle": "PolynomialDecay(0.5, 6, end_lr=0.01, power=2.0, cycle=True)",
    "LinearWarmup": "LinearWarmup(0.5, 5, 0.0, 0.4)",
    "LinearWarmup/schedule": "LinearWarmup(L.ExponentialDecay(0.5, 0.9), 5, 0.0, 0.5)",
    "ExponentialDecay": "ExponentialDecay(0.5, 0.9)",
    "MultiStepDecay": "MultiStepDecay(0.5, [2, 4, 9])",
    "MultiStepDecay/gamma": "MultiStepDecay(0.5, [3, 8], gamma=0.3)",
    "StepDecay": "StepDecay(0.5, 4)",
    "StepDecay/gamma": "StepDecay(0.5, 3, gamma=0.6)",
    "LambdaDecay": "LambdaDecay(0.5, lambda epoch: 0.95 ** epoch)",
    "MultiplicativeDecay": "MultiplicativeDecay(0.5, lambda epoch: 0.95)",
    "CosineAnnealingDecay": "CosineAnnealingDecay(0.5, 7)",
    "CosineAnnealingDecay/minimum": "CosineAnnealingDecay(0.5, 20, eta_min=0.1)",
    "CosineAnnealingWarmRestarts": "CosineAnnealingWarmRestarts(0.5, 4)",
    "CosineAnnealingWarmRestarts/longer": "CosineAnnealingWarmRestarts(0.5, 3, T_mult=2, eta_min=0.05)",
    "OneCycleLR": "OneCycleLR(1.0, 20)",
    "OneCycleLR/linear": "OneCycleLR(1.0, 24, divide_factor=10.0, phase_pct=0.4, anneal_strategy='linear')",
    "OneCycleLR/three phases": "OneCycleLR(1.0, 20, end_learning_rate=0.001, three_phase=True)",
    "CyclicLR": "CyclicLR(0.1, 0.5, 4)",
    "CyclicLR/down": "CyclicLR(0.1, 0.5, 2, 5)",
    "CyclicLR/triangular2": "CyclicLR(0.1, 0.5, 3, mode='triangular2')",
    "CyclicLR/exp_range": "CyclicLR(0.1, 0.5, 3, mode='exp_range', exp_gamma=0.9)",
    "CyclicLR/function": "CyclicLR(0.1, 0.5, 3, scale_fn=lambda n: 0.5 ** n, scale_mode='iterations')",
    "LinearLR": "LinearLR(0.5, 10)",
    "LinearLR/factors": "LinearLR(0.5, 6, start_factor=0.1, end_factor=0.8)",
    "ReduceOnPlateau": "ReduceOnPlateau(0.5, patience=2, factor=0.5)",
}
_LOSSES = "[1.0, 0.9, 0.9, 0.91, 0.95, 0.99] + [0.5] * 7 + [0.49999] + [0.4] * 6"
_IMPORT = "L = paddle.optimizer.lr\n"


def _values(code: str) -> str:
    return (
        f"{_IMPORT}s = L.{code}\nvalues = []\n"
        "for n in range(20):\n    values.append(s())\n    s.step()\nvalues"
    )


def _plateau(options: str) -> str:
    return (
        f"{_IMPORT}s = L.ReduceOnPlateau(0.5, {options})\nvalues = []\n"
        f"for loss in {_LOSSES}:\n    s.step(paddle.to_tensor(loss))\n    values.append(s.last_lr)\nvalues"
    )


CALLS: dict[str, str] = {
    **{name: _values(code) for name, code in _SCHEDULES.items() if not name.startswith("ReduceOnPlateau")},
    "ReduceOnPlateau": _plateau("patience=2, factor=0.5"),
    "ReduceOnPlateau/cooldown": _plateau("patience=1, factor=0.5, cooldown=3"),
    "ReduceOnPlateau/absolute": _plateau("patience=1, threshold=0.05, threshold_mode='abs'"),
    "ReduceOnPlateau/max": _plateau("mode='max', patience=3, factor=0.7"),
    "ReduceOnPlateau/minimum": _plateau("patience=0, factor=0.5, min_lr=0.2, epsilon=0.01"),
    **{
        f"state_dict/{name}": f"{_IMPORT}s = L.{_SCHEDULES[name]}\ns.step()\ns.step()\ns.state_dict()"
        for name in (
            "StepDecay",
            "PiecewiseDecay",
            "CosineAnnealingDecay",
            "LinearWarmup",
            "ExponentialDecay",
        )
    },
    **{
        f"step to an epoch/{name}": f"{_IMPORT}s = L.{_SCHEDULES[name]}\ns.step(5)\n(s(), s.last_epoch)"
        for name in (
            "StepDecay",
            "PolynomialDecay",
            "CosineAnnealingDecay",
            "NoamDecay",
            "LinearWarmup",
            "CosineAnnealingWarmRestarts",
        )
    },
    **{
        f"last_epoch/{name}": f"{_IMPORT}s = L.{code}\n(s(), s.last_epoch)"
        for name, code in {
            "StepDecay": "StepDecay(0.5, 4, last_epoch=6)",
            "ExponentialDecay": "ExponentialDecay(0.5, 0.9, last_epoch=2)",
        }.items()
    },
    "set_state_dict": (
        f"{_IMPORT}s = L.StepDecay(0.5, 2)\nfor n in range(5):\n    s.step()\n"
        "r = L.StepDecay(0.5, 2)\nr.set_state_dict(s.state_dict())\nr.step()\n(r(), r.last_epoch)"
    ),
    "own": (
        f"{_IMPORT}class Own(L.LRScheduler):\n    def get_lr(self):\n"
        "        return self.base_lr / (self.last_epoch + 1)\n"
        "s = Own(0.5)\nvalues = [s()]\nfor n in range(4):\n    s.step()\n    values.append(s())\nvalues"
    ),
    "raises/StepDecay for a size of text": f"{_IMPORT}L.StepDecay(0.5, 'four')",
    "raises/StepDecay for a gamma": f"{_IMPORT}L.StepDecay(0.5, 4, gamma=1.5)",
    "raises/MultiStepDecay for a number": f"{_IMPORT}L.MultiStepDecay(0.5, 4)",
    "raises/MultiStepDecay for an order": f"{_IMPORT}L.MultiStepDecay(0.5, [4, 2])",
    "raises/LambdaDecay for a number": f"{_IMPORT}L.LambdaDecay(0.5, 0.9)",
    "raises/CosineAnnealingDecay for text": f"{_IMPORT}L.CosineAnnealingDecay(0.5, 'ten')",
    "raises/ReduceOnPlateau for a mode": f"{_IMPORT}L.ReduceOnPlateau(0.5, mode='both')",
    "raises/OneCycleLR for a strategy": f"{_IMPORT}L.OneCycleLR(1.0, 10, anneal_strategy='step')",
    "raises/CyclicLR for a mode": f"{_IMPORT}L.CyclicLR(0.1, 0.5, 4, mode='square')",
    "raises/CosineAnnealingWarmRestarts for no period": f"{_IMPORT}L.CosineAnnealingWarmRestarts(0.5, 0)",
    "raises/learning rate of text": f"{_IMPORT}L.ExponentialDecay('fast', 0.9)",
}
