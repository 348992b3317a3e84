"""The dynamic-graph quantization of Paddle 2.0 to 2.4: ImperativeQuantAware, ImperativePTQ, quantizers."""

_Q = (
    "from importlib import import_module\n"
    "pq = import_module(paddle.__name__ + '.quantization')\n"
    "fuse = import_module(pq.__name__ + '.imperative.fuse_utils')\n"
)
_NET = (
    "class Net(nn.Layer):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.conv = nn.Conv2D(1, 2, 3, padding=1)\n"
    "        self.act = nn.ReLU()\n"
    "        self.pool = nn.AvgPool2D(2)\n"
    "        self.fc = nn.Sequential(nn.Linear(8, 4), nn.Sigmoid(), nn.Linear(4, 3))\n"
    "    def forward(self, x):\n"
    "        return self.fc(paddle.flatten(self.pool(self.act(self.conv(x))), 1))\n"
    "net = formula(Net())\n"
    "x, y = t([2, 1, 4, 4]), t([5, 1, 4, 4], seed=3)\n"
)
_BN = (
    "net = nn.Sequential(nn.Conv2D(1, 3, 3), nn.BatchNorm2D(3), nn.ReLU(), nn.Conv2D(3, 2, 1, "
    "bias_attr=False), "
    "nn.BatchNorm2D(2))\n"
    "x = t([4, 1, 5, 5])\nformula(net)\nnet[1]._variance.set_value(pos([3]))\n"
    "net[4]._variance.set_value(pos([2]))\n"
    "net.eval()\n"
)


def _made(options: str = "") -> str:
    return _Q + _NET + f"qat = pq.ImperativeQuantAware({options})\nm = qat.quantize(net)\n"


_STEPS = (
    "o = paddle.optimizer.SGD(0.1, parameters=m.parameters())\n"
    "for n in range(3):\n"
    "    l = weighted(m(t([2, 1, 4, 4], seed=n)))\n"
    "    l.backward()\n"
    "    o.step()\n"
    "    o.clear_grad()\n"
)
_VALUES = "[v.detach() for k, v in m.state_dict().items()]"
_CHANNELS = "weight_quantize_type='channel_wise_abs_max', onnx_format=True"
_PTQ = (
    _Q + _NET + "net.eval()\nptq = pq.ImperativePTQ(pq.PTQConfig(pq.{}, pq.{}))\nm = ptq.quantize(net)\n"
    "m(x)\nm(y)\n"
    "found = []\nfor n, l in m.named_sublayers():\n"
    "    if hasattr(l, '_quant_config'):\n"
    "        c = l._quant_config\n"
    "        c.out_act_quantizer.cal_thresholds()\n"
    "        found.append((n, c.enable_in_act_quantizer, c.out_act_quantizer.thresholds))\n"
    "found"
)


def _quantizer(name: str) -> str:
    return (
        _Q + f"q = pq.{name}\n"
        "for n in range(4):\n"
        "    q.sample_data(nn.ReLU(), (t([3, 8, 25], seed=n) * (1 + n % 3), t([2, 300], "
        "seed=n + 5).abs() * n))\n"
        "q.cal_thresholds()\n(q.thresholds, q.abs_max_vals, q.quant_bits)"
    )


CALLS: dict[str, str] = {
    # -- ImperativeQuantAware
    "qat/text": _made() + "(m is net, str(m))",
    "qat/text of the onnx format": _made("onnx_format=True") + "str(m)",
    "qat/text of Linear": _made("quantizable_layer_type=['Linear']") + "str(m)",
    "qat/by class": _made("quantizable_layer_type=[nn.Conv2D], onnx_format=True") + "str(m)",
    "qat/state": _made() + "[(k, v.shape) for k, v in m.state_dict().items()]",
    "qat/state of channels": _made(_CHANNELS) + "[(k, v.shape) for k, v in m.state_dict().items()]",
    "qat/skip": (
        _Q + _NET + "net.fc[0].skip_quant = True\n"
        "m = pq.ImperativeQuantAware(onnx_format=True).quantize(net)\nstr(m)"
    ),
    "qat/train": _made() + "[m(x), m(y)]",
    "qat/train by channels": _made(_CHANNELS) + "[m(x), m(y)]",
    "qat/train with few bits": _made("weight_bits=4, activation_bits=5, moving_rate=0.5") + "[m(x), m(y)]",
    "qat/state after training": _made() + "m(x)\nm(y)\n" + _VALUES,
    "qat/state by channels": _made(_CHANNELS) + "m(x)\nm(y)\n" + _VALUES,
    "qat/eval": _made() + "m(x)\nm(y)\nm.eval()\n[m(x), m(y)]",
    "qat/eval by channels": _made(_CHANNELS) + "m(x)\nm(y)\nm.eval()\n[m(x), m(y)]",
    "qat/gradient": _made(_CHANNELS) + "m(x)\ngrad(m, y)",
    "qat/steps": _made(_CHANNELS) + _STEPS + _VALUES,
    "qat/transposed": (
        _Q + "net = formula(nn.Sequential(nn.Conv2DTranspose(2, 3, 3)))\n"
        "m = pq.ImperativeQuantAware(" + _CHANNELS + ").quantize(net)\n(str(m), m(t([1, 2, 3, 3])))"
    ),
    "qat/preprocess": (
        _Q + _NET + "class Half(nn.Layer):\n    def forward(self, x):\n        return x * 0.5\n"
        "m = pq.ImperativeQuantAware(weight_preprocess_layer=Half, act_preprocess_layer=Half, "
        "onnx_format=True)"
        ".quantize(net)\n(str(m), m(x))"
    ),
    "qat/own quanters": (
        _Q + _NET + "class Half(nn.Layer):\n    def forward(self, x):\n        return x * 0.5\n"
        "m = pq.ImperativeQuantAware(weight_quantize_layer=Half, act_quantize_layer=Half, onnx_format=True)"
        ".quantize(net)\n(str(m), m(x))"
    ),
    "qat/raises for a layer": _Q + "pq.ImperativeQuantAware(quantizable_layer_type=['ReLU'])",
    "qat/raises for a name": _Q + "pq.ImperativeQuantAware(quantizable_layer_type=['Nothing'])",
    "qat/raises for a weight type": _Q
    + "pq.ImperativeQuantAware(weight_quantize_type='moving_average_abs_max')",
    "qat/raises for an activation type": _Q + "pq.ImperativeQuantAware(activation_quantize_type='abs_max')",
    "qat/raises for bits": _Q + "pq.ImperativeQuantAware(weight_bits=17)",
    "qat/raises for no network": _Q + "pq.ImperativeQuantAware().quantize(3)",
    # -- quantizers
    "quantizer/abs max": _quantizer("AbsmaxQuantizer()"),
    "quantizer/hist": _quantizer("HistQuantizer()"),
    "quantizer/hist of a part": _quantizer("HistQuantizer(quant_bits=4, bins=64, hist_percent=0.9)"),
    "quantizer/few parts": _quantizer("HistQuantizer(bins=32, upsample_bins=4, hist_percent=0.8)"),
    "quantizer/KL": _quantizer("KLQuantizer()"),
    "quantizer/KL of few bits": _quantizer("KLQuantizer(quant_bits=4, bins=256)"),
    "quantizer/channels": (
        _Q + "q = pq.PerChannelAbsmaxQuantizer()\nq.sample_data(nn.Conv2D(2, 3, 3), (t([3, 2, 3, 3]),))\n"
        "r = pq.PerChannelAbsmaxQuantizer(4)\nr.sample_data(nn.Linear(4, 3), (t([4, 3]),))\n"
        "r.sample_data(nn.Linear(4, 3), (t([4, 3], seed=2),))\nq.cal_thresholds()\nr.cal_thresholds()\n"
        "(q.thresholds, r.thresholds)"
    ),
    "quantizer/zeros": (
        _Q + "q = pq.HistQuantizer()\nq.sample_data(None, (paddle.zeros([3]),))\n"
        "q.sample_data(None, (t([30]),))\nq.sample_data(None, (paddle.zeros([3]),))\n"
        "q.cal_thresholds()\nq.thresholds"
    ),
    "quantizer/raises for bits": _Q + "pq.AbsmaxQuantizer(17)",
    "quantizer/supported": (
        _Q + "([c.__name__ for c in pq.SUPPORT_ACT_QUANTIZERS], "
        "[c.__name__ for c in pq.SUPPORT_WT_QUANTIZERS])"
    ),
    "config/raises": _Q + "pq.PTQConfig(pq.PerChannelAbsmaxQuantizer(), pq.AbsmaxQuantizer())",
    "config/default": (
        _Q + "c = pq.default_ptq_config\n(type(c.in_act_quantizer).__name__, "
        "type(c.out_act_quantizer).__name__, "
        "type(c.wt_quantizer).__name__, c.enable_in_act_quantizer)"
    ),
    # -- ImperativePTQ
    "ptq/abs max": _PTQ.format("AbsmaxQuantizer()", "AbsmaxQuantizer()"),
    "ptq/hist": _PTQ.format("HistQuantizer()", "PerChannelAbsmaxQuantizer()"),
    "ptq/KL": _PTQ.format("KLQuantizer()", "PerChannelAbsmaxQuantizer()"),
    "ptq/copies": (
        _Q + _NET + "net.eval()\nm = pq.ImperativePTQ().quantize(net)\n"
        "(m is net, str(m) == str(net), hasattr(net.conv, '_quant_config'), hasattr(m.conv, '_quant_config'))"
    ),
    "ptq/in place": _Q + _NET + "m = pq.ImperativePTQ().quantize(net, inplace=True)\n(m is net, m.training)",
    "ptq/skip": (
        _Q + _NET + "net.act.skip_quant = True\nm = pq.ImperativePTQ().quantize(net)\n"
        "[n for n, l in m.named_sublayers() if hasattr(l, '_quant_config')]"
    ),
    "ptq/fuse": (
        _Q + _BN + "m = pq.ImperativePTQ().quantize(net, fuse=True, fuse_list=[['0', '1'], ['3', '4']])\n"
        "(str(m), m(x), net(x))"
    ),
    "ptq/raises for no network": _Q + "pq.ImperativePTQ().quantize(3)",
    "ptq/raises for no configuration": _Q + "pq.ImperativePTQ(3)",
    "registry": (
        _Q + "r = pq.PTQRegistry\nl = [nn.ReLU(), nn.ELU(), nn.Conv2D(1, 1, 1), nn.Linear, "
        "nn.Conv2DTranspose]\n"
        "[(r.is_supported_layer(v), r.is_registered_layer(v), r.is_simulated_quant_layer(v)) for v in l]"
    ),
    "registry/slots": (
        _Q + "i = pq.PTQRegistry.layer_info(nn.Conv2D(1, 1, 1))\n"
        "(i.layer, i.input_names, i.weight_names, i.output_names)"
    ),
    "registry/raises": _Q + "pq.PTQRegistry.layer_info(nn.ELU())",
    "fuse/convolution": (
        _Q + _BN + "m = fuse.fuse_layers(net, [['0', '1']])\n(str(m), m(x), m is net, m[0].weight, m[0].bias)"
    ),
    "fuse/in place": _Q + _BN + "a = net(x)\nm = fuse.fuse_layers(net, [['3', '4']], inplace=True)\n"
    "(m is net, m(x), a)",
}
TOLERANCES: dict[str, float] = {"fuse/convolution": 2e-5, "fuse/in place": 2e-5, "ptq/fuse": 2e-5}
