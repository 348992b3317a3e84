"""Initializers: fixed values, and the bounds and moments of drawn ones."""

_I = "I = nn.initializer\n"


def _weight(code: str, shape: str = "[3, 4]") -> str:
    return f"{_I}nn.Layer().create_parameter({shape}, default_initializer={code}).detach()"


def _drawn(code: str, show: str, shape: str = "[200, 100]") -> str:
    return f"{_I}w = nn.Layer().create_parameter({shape}, default_initializer={code}).numpy()\n{show}"


_BOUND = "float(np.round(np.abs(w).max(), 3))"  # 20,000 values come within a thousandth of their bound
_SPREAD = "(float(np.round(w.mean() * 5)), float(np.round(w.std() * 10)))"

CALLS: dict[str, str] = {
    "Constant": _weight("I.Constant(2.5)"),
    "Constant/default": _weight("I.Constant()"),
    "Assign/list": _weight("I.Assign([[1.0, 2.0], [3.0, 4.0]])", "[2, 2]"),
    "Assign/array": _weight("I.Assign(np.array([1.0, 2.0]))", "[2]"),
    "Assign/tensor": _weight("I.Assign(t([2, 2]))", "[2, 2]"),
    "Dirac": _weight("I.Dirac()", "[3, 2, 3]"),
    "Dirac/groups": _weight("I.Dirac(groups=2)", "[4, 2, 3, 3]"),
    "Bilinear": _weight("I.Bilinear()", "[2, 1, 4, 4]"),
    "Orthogonal": (
        f"{_I}w = nn.Layer().create_parameter([4, 6], default_initializer=I.Orthogonal()).numpy()\n"
        "bool(np.abs(w @ w.T - np.eye(4)).max() < 1e-5)"
    ),
    "Orthogonal/gain": (
        f"{_I}w = nn.Layer().create_parameter([6, 4], default_initializer=I.Orthogonal(2.0)).numpy()\n"
        "bool(np.abs(w.T @ w - 4 * np.eye(4)).max() < 1e-5)"
    ),
    "Uniform": _drawn("I.Uniform(-2.0, 2.0)", _BOUND),
    "Normal": _drawn("I.Normal(1.0, 2.0)", _SPREAD),
    "TruncatedNormal": _drawn("I.TruncatedNormal(0.0, 1.0)", "bool(np.abs(w).max() <= 2)"),
    "XavierUniform": _drawn("I.XavierUniform()", _BOUND),
    "XavierUniform/fans": _drawn("I.XavierUniform(fan_in=10, fan_out=20)", _BOUND),
    "XavierUniform/conv": _drawn("I.XavierUniform()", _BOUND, "[60, 40, 3, 3]"),
    "XavierNormal": _drawn("I.XavierNormal(fan_in=1, fan_out=1)", _SPREAD),
    "KaimingUniform": _drawn("I.KaimingUniform()", _BOUND),
    "KaimingUniform/slope": _drawn("I.KaimingUniform(negative_slope=1.0, nonlinearity='leaky_relu')", _BOUND),
    "KaimingUniform/conv": _drawn("I.KaimingUniform()", _BOUND, "[60, 40, 3, 3]"),
    "KaimingNormal": _drawn("I.KaimingNormal(fan_in=2)", _SPREAD),
    **{
        f"calculate_gain/{name}": f"nn.initializer.calculate_gain({arguments})"
        for name, arguments in {
            "sigmoid": "'sigmoid'",
            "linear": "'linear'",
            "conv2d": "'conv2d'",
            "tanh": "'tanh'",
            "relu": "'relu'",
            "leaky_relu": "'leaky_relu'",
            "leaky_relu slope": "'leaky_relu', 0.3",
            "selu": "'selu'",
        }.items()
    },
    "calculate_gain/raises": "nn.initializer.calculate_gain('wave')",
    "set_global_initializer": (
        f"{_I}I.set_global_initializer(I.Constant(0.5), I.Constant(0.25))\nl = nn.Linear(2, 2)\n"
        "I.set_global_initializer(None)\n(l.weight.detach(), l.bias.detach())"
    ),
    "set_global_initializer/attr wins": (
        f"{_I}I.set_global_initializer(I.Constant(0.5))\nl = nn.Linear(2, 2, weight_attr=I.Constant(3.0))\n"
        "I.set_global_initializer(None)\nl.weight.detach()"
    ),
    "default/Linear bias": "nn.Linear(2, 3).bias.detach()",
    "default/Linear weight": "float(np.round(np.abs(nn.Linear(100, 200).weight.numpy()).max(), 3))",
    "default/BatchNorm": "l = nn.BatchNorm2D(2)\n(l.weight.detach(), l.bias.detach(), l._mean, l._variance)",
    "default/LayerNorm": "l = nn.LayerNorm(2)\n(l.weight.detach(), l.bias.detach())",
    "default/PReLU": "nn.PReLU(2).parameters()[0].detach()",
    "default/Conv2D bias": "nn.Conv2D(1, 2, 3).bias.detach()",
    "default/Conv2D spread": (
        "w = nn.Conv2D(20, 40, 5).weight.numpy()\nfloat(np.round(w.std() / np.sqrt(2.0 / (20 * 25)), 1))"
    ),
    "default/Embedding spread": "w = nn.Embedding(200, 100).weight.numpy()\nfloat(np.round(w.std(), 2))",
    "default/LSTM bound": (
        "l = nn.LSTM(10, 64)\n[float(np.round(np.abs(p.numpy()).max(), 2)) for p in l.parameters()[:2]]"
    ),
    "repr": "[type(x).__name__ for x in (nn.initializer.Constant(), nn.initializer.XavierNormal())]",
}
