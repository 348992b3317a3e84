"""Initializers: fixed values, the widths of what is drawn, and what every layer begins with."""

_I = "paddle.nn.initializer."
_MAKE = "paddle.create_parameter({}, '{}', default_initializer=" + _I + "{})"

# How a parameter's values are spread: rounded, so that other random numbers give the same.
_SPREAD = (
    "{make}\nlimit = {limit}\nw = np.abs({w}.numpy().astype('float64').reshape(-1))\n"
    "[bool(w.max() < limit * 1.5), round(float(np.quantile(w, 0.9) / limit), 1), "
    "round(float((w ** 2).mean() ** 0.5 / limit), 1)]"
)


def _spread(make: str, limit: str, w: str = "p") -> str:
    return _SPREAD.format(make=make, limit=limit, w=w)


def _drawn(shape: str, init: str) -> str:
    return "p = " + _MAKE.format(shape, "float32", init)


_LAYERS = {
    "Linear": ("nn.Linear(60, 40)", "weight", "(6 / 100) ** 0.5"),
    "Embedding": ("nn.Embedding(60, 40)", "weight", "(6 / 100) ** 0.5"),
    "Bilinear": ("nn.Bilinear(10, 20, 30)", "weight", "(6 / (10 * 20 + 30 * 20)) ** 0.5"),
    "Conv2D": ("nn.Conv2D(8, 16, 5)", "weight", "(2 / (8 * 25)) ** 0.5 * 3.5"),
    "LSTMCell": ("nn.LSTMCell(40, 25)", "weight_ih", "0.2"),
    "LSTMCell bias": ("nn.LSTMCell(40, 400)", "bias_hh", "0.05"),
    "GRUCell": ("nn.GRUCell(40, 25)", "weight_hh", "0.2"),
    "SimpleRNNCell": ("nn.SimpleRNNCell(60, 100)", "weight_ih", "0.1"),
    "MultiHeadAttention": ("nn.MultiHeadAttention(48, 4).q_proj", "weight", "(6 / 96) ** 0.5"),
    "TransformerEncoderLayer": (
        "nn.TransformerEncoderLayer(30, 3, 70).linear1", "weight", "(6 / 100) ** 0.5",
    ),
    "HSigmoidLoss": ("nn.HSigmoidLoss(40, 61)", "weight", "(6 / 100) ** 0.5")
}

CALLS: dict[str, str] = {
    "Constant": _MAKE.format("[2, 3]", "float32", "Constant(0.3)"),
    "Constant/float64": _MAKE.format("[2]", "float64", "Constant(0.3)"),
    "Constant/default": _MAKE.format("[2]", "float32", "Constant()"),
    "Assign/array": _MAKE.format("[2, 2]", "float32", "Assign(np.arange(4.0).reshape(2, 2))"),
    "Assign/list": _MAKE.format("[3]", "float32", "Assign([1, 2, 3])"),
    "Assign/tensor": _MAKE.format("[2, 2]", "float32", "Assign(t([2, 2]))"),
    "Dirac/plain": _MAKE.format("[3, 2, 3]", "float32", "Dirac()"),
    "Dirac/groups": _MAKE.format("[4, 3, 2, 2]", "float32", "Dirac(groups=2)"),
    "Dirac/more channels": _MAKE.format("[2, 4, 3, 3, 3]", "float32", "Dirac()"),
    "Dirac/raises groups": f"{_I}Dirac(0)",
    "Dirac/raises rank": _MAKE.format("[3, 2]", "float32", "Dirac()"),
    "Dirac/raises filters": _MAKE.format("[3, 2, 3]", "float32", "Dirac(2)"),
    "Bilinear/four": _MAKE.format("[1, 1, 4, 4]", "float32", "Bilinear()"),
    "Bilinear/raises": _MAKE.format("[1, 1, 4, 3]", "float32", "Bilinear()"),
    "Orthogonal/rows": "p = " + _MAKE.format("[3, 8]", "float64", "Orthogonal(gain=2.0)")
    + "\n(p @ p.T).round() + 0.0",
    "Orthogonal/columns": "p = " + _MAKE.format("[8, 3]", "float64", "Orthogonal()")
    + "\n(p.T @ p).round() + 0.0",
    "Orthogonal/kernel": "p = " + _MAKE.format("[4, 2, 3, 3]", "float64", "Orthogonal()")
    + "\nq = p.reshape([4, 18])\n(q @ q.T).round() + 0.0",
    "Orthogonal/raises": _MAKE.format("[4]", "float32", "Orthogonal()"),
    "XavierUniform": _spread(_drawn("[60, 40]", "XavierUniform()"), "(6 / 100) ** 0.5"),
    "XavierUniform/kernel": _spread(_drawn("[8, 4, 5, 5]", "XavierUniform()"), "(6 / (12 * 25)) ** 0.5"),
    "XavierUniform/fans": _spread(_drawn("[60, 40]", "XavierUniform(10, 20)"), "(6 / 30) ** 0.5"),
    "XavierNormal": _spread(_drawn("[60, 50]", "XavierNormal()"), "(2 / 110) ** 0.5 * 3.5"),
    "KaimingUniform": _spread(_drawn("[60, 40]", "KaimingUniform()"), "(6 / 60) ** 0.5"),
    "KaimingUniform/leaky": _spread(
        _drawn("[60, 40]", "KaimingUniform(negative_slope=0.5, nonlinearity='leaky_relu')"),
        "(2.4 * 2 / 120) ** 0.5"
    ),
    "KaimingNormal": _spread(_drawn("[60, 50]", "KaimingNormal()"), "(2 / 60) ** 0.5 * 3.5"),
    "Normal": _spread(_drawn("[60, 50]", "Normal(0.0, 2.0)"), "2 * 3.5"),
    "TruncatedNormal": _spread(_drawn("[60, 50]", "TruncatedNormal(0.0, 2.0)"), "4.0"),
    "Uniform": _spread(_drawn("[60, 50]", "Uniform(-0.5, 0.5)"), "0.5"),
    **{f"layer/{name}": _spread(f"p = {make}", limit, f"p.{part}") for name,
    (make, part, limit) in _LAYERS.items()},
    "layer/biases": "[float(p.abs().sum()) for p in (nn.Linear(2, 3).bias, nn.Conv2D(2, 3, 1).bias, "
    "nn.Bilinear(2, 2, 3).bias, nn.MultiHeadAttention(4, 2).k_proj.bias, nn.LayerNorm(3).bias)]",
    "layer/PReLU": "nn.PReLU(3, init=0.1)._weight",
    "layer/Embedding padding": "nn.Embedding(4, 3, padding_idx=-1).weight[3]",
    "calculate_gain": f"[{_I}calculate_gain(n) for n in ('sigmoid', 'linear', 'conv2d', 'tanh', 'relu', "
    f"'selu', "
    "'leaky_relu', 'conv3d_transpose')]",
    "calculate_gain/slope": f"[{_I}calculate_gain('leaky_relu', s) for s in (0, 1, 0.2, True)]",
    "calculate_gain/raises name": f"{_I}calculate_gain('elu')",
    "calculate_gain/raises slope": f"{_I}calculate_gain('leaky_relu', '1')",
    "set_global_initializer": f"{_I}set_global_initializer({_I}Constant(0.5), {_I}Constant(0.25))\n"
    "net = nn.Linear(2, 2)\ngiven = nn.Linear(2, 2, paddle.ParamAttr(initializer=" + _I + "Constant(2.0)))\n"
    f"cell = nn.GRUCell(1, 1)\n{_I}set_global_initializer(None)\n"
    "[net.weight, net.bias, given.weight, cell.weight_ih, cell.bias_hh]"
}
