"""Activation functions, their layers and their gradients."""

_UNARY = {
    "celu": "", "celu/alpha": "alpha=0.4", "elu": "", "elu/alpha": "0.3", "gelu": "",
    "gelu/tanh": "approximate=True", "hardshrink": "", "hardshrink/threshold": "threshold=0.2",
    "hardsigmoid": "", "hardsigmoid/slope": "0.3, 0.2",
    "hardswish": "", "hardtanh": "", "hardtanh/limits": "-0.4, 0.3", "leaky_relu": "",
    "leaky_relu/slope": "0.3",
    "log_sigmoid": "", "log_softmax": "", "log_softmax/axis": "axis=0", "maxout": "2",
    "maxout/last": "3, axis=-1",
    "mish": "", "relu": "", "relu6": "", "selu": "", "selu/given": "1.2, 0.5", "sigmoid": "", "silu": "",
    "softmax": "", "softmax/axis": "axis=1", "softplus": "", "softplus/beta": "3, 1.5", "softshrink": "",
    "softshrink/threshold": "0.1", "softsign": "", "swish": "", "tanh": "", "tanhshrink": "",
    "thresholded_relu": "",
    "thresholded_relu/threshold": "0.2", "glu": "", "glu/axis": "axis=1", "rrelu": "training=False",
    "rrelu/limits": "0.1, 0.5, training=False"
}


def _calls() -> dict[str, str]:
    calls = {}
    for name, given in _UNARY.items():
        function = name.partition("/")[0]
        x = "t([2, 6, 2, 6])" if function == "maxout" else "t([2, 4, 6]) * 4"
        more = f", {given}" if given else ""
        calls[name] = f"F.{function}({x}{more})"
        calls[f"{name}/grad"] = f"grad(lambda x: F.{function}(x{more}), {x})"
    return calls


_LAYERS = (
    "nn.CELU(), nn.ELU(0.5), nn.GELU(True), nn.GLU(1), nn.Hardshrink(), nn.Hardsigmoid(), nn.Hardswish(), "
    "nn.Hardtanh(), nn.LogSigmoid(), nn.Maxout(2), nn.Mish(), nn.ReLU6(), nn.SELU(), nn.Silu(), "
    "nn.Softmax2D(), "
    "nn.Softplus(), nn.Softshrink(), nn.Softsign(), nn.Swish(), nn.Tanhshrink(), nn.ThresholdedReLU(0.3)"
)
_WIDE = "paddle.to_tensor([-1000.0, -90.0, -20.5, -5.0, -0.0, 0.0, 5.0, 20.5, 90.0, 1000.0])"

CALLS: dict[str, str] = {
    **_calls(),
    **{
        f"{name}/wide": f"F.{name}({_WIDE})"
        for name in (
            "gelu",
            "hardsigmoid",
            "hardswish",
            "log_sigmoid",
            "log_softmax",
            "mish",
            "relu6",
            "selu",
            "sigmoid",
            "silu",
            "softmax",
            "softplus",
            "softsign",
            "swish",
            "tanhshrink",
            "elu",
            "celu",
        )
    },
    **{
        f"{name}/float64": f"F.{name}(t([3, 4], 'float64') * 3)"
        for name in ("gelu", "mish", "softplus", "selu", "silu", "hardsigmoid", "log_softmax", "softmax")
    },
    "softplus/wide grad": f"grad(F.softplus, {_WIDE})",
    "log_sigmoid/wide grad": f"grad(F.log_sigmoid, {_WIDE})",
    "mish/wide grad": f"grad(F.mish, {_WIDE})",
    "elu/0d": "F.elu(t([]))",
    "gelu/0d": "grad(F.gelu, t([]))",
    "softmax/0d": "F.softmax(t([]))",
    "softmax/dtype": "F.softmax(t([2, 3]), dtype='float64')",
    "log_softmax/dtype": "F.log_softmax(t([2, 3]), dtype='float64')",
    "relu/kink": "grad(F.relu, paddle.to_tensor([-1.0, 0.0, 1.0]))",
    "relu6/kinks": "grad(F.relu6, paddle.to_tensor([-1.0, 0.0, 1.0, 6.0, 7.0]))",
    "hardtanh/kinks": "grad(F.hardtanh, paddle.to_tensor([-1.0, 0.0, 1.0, 2.0]))",
    "hardshrink/kinks": "grad(F.hardshrink, paddle.to_tensor([-0.5, 0.0, 0.5, 1.0]))",
    "softshrink/kinks": "grad(F.softshrink, paddle.to_tensor([-0.5, 0.0, 0.5, 1.0]))",
    "hardswish/kinks": "grad(F.hardswish, paddle.to_tensor([-3.0, 0.0, 3.0, 4.0]))",
    "hardsigmoid/kinks": "grad(F.hardsigmoid, paddle.to_tensor([-3.0, 0.0, 3.0, 4.0]))",
    "thresholded_relu/kinks": "grad(F.thresholded_relu, paddle.to_tensor([0.0, 1.0, 2.0]))",
    "leaky_relu/kink": "grad(F.leaky_relu, paddle.to_tensor([-1.0, 0.0, 1.0]))",
    "elu/kink": "grad(F.elu, paddle.to_tensor([-1.0, 0.0, 1.0]))",
    "selu/kink": "grad(F.selu, paddle.to_tensor([-1.0, 0.0, 1.0]))",
    "celu/kink": "grad(F.celu, paddle.to_tensor([-1.0, 0.0, 1.0]))",
    "prelu/one": "F.prelu(t([2, 3, 4]), t([1], seed=3))",
    "prelu/one grad": "grad(F.prelu, t([2, 3, 4]), t([1], seed=3))",
    "prelu/channels": "F.prelu(t([2, 3, 4]), t([3], seed=3))",
    "prelu/channels grad": "grad(F.prelu, t([2, 3, 4]), t([3], seed=3))",
    "prelu/last": "grad(lambda x, w: F.prelu(x, w, data_format='NHWC'), t([2, 2, 2, 3]), t([3], seed=3))",
    "prelu/raises channels": "F.prelu(t([2, 3, 4]), t([4]))",
    "prelu/raises format": "F.prelu(t([2, 3, 4]), t([3]), data_format='CN')",
    "prelu/raises rank": "F.prelu(t([2, 3, 4]), t([3, 1]))",
    "celu/raises alpha": "F.celu(t([3]), alpha=0)",
    "selu/raises scale": "F.selu(t([3]), scale=0.5)",
    "selu/raises alpha": "F.selu(t([3]), alpha=-1.0)",
    "softshrink/raises": "F.softshrink(t([3]), -0.5)",
    "rrelu/raises int": "F.rrelu(t([3]), 0, 1)",
    "rrelu/raises below": "F.rrelu(t([3]), -0.1, 0.5)",
    "rrelu/raises above": "F.rrelu(t([3]), 0.1, 1.5)",
    "rrelu/raises order": "F.rrelu(t([3]), 0.5, 0.1)",
    "glu/raises axis": "F.glu(t([2, 4]), axis=2)",
    "glu/raises odd": "F.glu(t([2, 3]))",
    "softmax/raises axis": "F.softmax(t([2, 3]), axis=2)",
    "gelu/raises int": "F.gelu(ints([3], 4))",
    "elu_/raises": "F.elu_(t([3]), -1.0)",
    "relu_": "x = t([2, 3])\ny = F.relu_(x)\n[x, y is x]",
    "elu_": "x = t([2, 3])\n[F.elu_(x, 0.5), x]",
    "hardtanh_": "x = t([2, 3])\n[F.hardtanh_(x, -0.2, 0.2), x]",
    "leaky_relu_": "x = t([2, 3])\n[F.leaky_relu_(x, 0.5), x]",
    "softmax_": "x = t([2, 3])\n[F.softmax_(x), x]",
    "tanh_": "x = t([2, 3])\n[F.tanh_(x), x]",
    "thresholded_relu_": "x = t([2, 3])\n[F.thresholded_relu_(x, 0.2), x]",
    "relu_/grad": "x = t([2, 3])\nx.stop_gradient = False\ny = x * 2.0\nF.relu_(y)\npaddle.grad((y * "
    "y).sum(), [x])",
    "gumbel_softmax/sums": "paddle.round(F.gumbel_softmax(t([4, 5]), 0.7).sum(-1) * 1e4)",
    "gumbel_softmax/hard": "F.gumbel_softmax(t([4, 5]), hard=True).sum(-1)",
    "gumbel_softmax/raises": "F.gumbel_softmax(t([4, 5]), temperature=-1.0)",
    "layers/text": f"[str(layer) for layer in ({_LAYERS}, nn.LeakyReLU(0.2), nn.LogSoftmax(), nn.PReLU(3), "
    f"nn.ReLU(), "
    "nn.ReLU6(name='six'), nn.RReLU(), nn.Sigmoid(), nn.Softmax(1), nn.Tanh())]",
    "layers/values": f"[layer(t([2, 4, 2, 2])) for layer in ({_LAYERS})]",
    "layers/prelu": "net = nn.PReLU(4, 0.1)\n[net(t([2, 4, 2])), list(net.state_dict()), net._weight.name]",
    "layers/rrelu eval": "net = nn.RReLU()\nnet.eval()\nnet(t([2, 3]))",
    "layers/softmax2d raises": "nn.Softmax2D()(t([2, 3]))",
}
