"""paddle.quantization and paddle.nn.quant: configurations, QAT, PTQ, convert, own layers and quanters."""

_Q = (
    "from importlib import import_module\n"
    "pq = import_module(paddle.__name__ + '.quantization')\n"
    "for name in ('quanters', 'observers', 'factory'):\n"
    "    import_module(f'{pq.__name__}.{name}')\n"
    "QuantConfig, QAT, PTQ, quanter = pq.QuantConfig, pq.QAT, pq.PTQ, pq.quanter\n"
    "BaseQuanter, BaseObserver = pq.BaseQuanter, pq.BaseObserver\n"
    "FQ = pq.quanters.FakeQuanterWithAbsMaxObserver\n"
    "AbsmaxObserver = pq.observers.AbsmaxObserver\n"
    "GroupWiseWeightObserver = pq.observers.GroupWiseWeightObserver\n"
    "q = FQ(moving_rate=0.9)\n"
)
_NET = (
    "class Net(nn.Layer):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.conv = nn.Conv2D(1, 2, 3, padding=1)\n"
    "        self.act = nn.ReLU()\n"
    "        self.pool = nn.AvgPool2D(2)\n"
    "        self.stub = paddle.nn.quant.Stub()\n"
    "        self.fc = nn.Sequential(nn.Linear(8, 4), nn.Sigmoid(), nn.Linear(4, 3))\n"
    "    def forward(self, x):\n"
    "        x = self.pool(self.act(self.conv(x)))\n"
    "        return self.fc(self.stub(paddle.flatten(x, 1)))\n"
    "net = formula(Net())\n"
    "x, y = t([2, 1, 4, 4]), t([5, 1, 4, 4], seed=3)\n"
)
_BOTH = _Q + _NET + "qat = QAT(QuantConfig(q, q))\nm = qat.quantize(net)\n"
_STEPS = (
    "o = paddle.optimizer.SGD(0.1, parameters=m.parameters())\n"
    "for n in range(3):\n"
    "    l = weighted(m(t([2, 1, 4, 4], seed=n)))\n"
    "    l.backward()\n"
    "    o.step()\n"
    "    o.clear_grad()\n"
)
_PTQ = (
    _Q
    + _NET
    + "net.eval()\na = AbsmaxObserver(quant_bits=8)\nptq = PTQ(QuantConfig(a, a))\nm = ptq.quantize(net)\n"
    "m(x)\nm(y)\n"
)
_OWN = (
    "class OwnLayer(BaseQuanter):\n"
    "    def __init__(self, layer, bits=8):\n"
    "        super().__init__()\n"
    "        self.bits, self.kind = bits, type(layer).__name__\n"
    "    def forward(self, x):\n"
    "        return x * 0.5\n"
    "    def scales(self):\n"
    "        return paddle.to_tensor([0.5])\n"
    "    def zero_points(self):\n"
    "        return None\n"
    "    def quant_axis(self):\n"
    "        return -1\n"
    "    def bit_length(self):\n"
    "        return self.bits\n"
    "    def extra_repr(self):\n"
    "        return f'{self.kind}, {self.bits}'\n"
    "class Own(pq.factory.ObserverFactory):\n"
    "    def __init__(self, bits=8):\n"
    "        super().__init__(bits=bits)\n"
    "    def _get_class(self):\n"
    "        return OwnLayer\n"
)
_SKEW = (
    "class Skew(nn.Layer):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.weight = self.create_parameter([3])\n"
    "        self.inner = nn.ReLU()\n"
    "    def forward(self, x):\n"
    "        return self.inner(x * self.weight)\n"
    "class QuantedSkew(paddle.nn.quant.format.ConvertibleQuantedLayer):\n"
    "    def __init__(self, layer, config):\n"
    "        super().__init__()\n"
    "        self.weight = layer.weight\n"
    "        self.weight_quanter = config.weight._instance(layer)\n"
    "        self.seen = config.activation._instance(layer)\n"
    "    def forward(self, x):\n"
    "        return self.seen(x) * self.weight_quanter(self.weight)\n"
    "    def weights_to_quanters(self):\n"
    "        return [('weight', 'weight_quanter')]\n"
    "    def activation_quanters(self):\n"
    "        return ['seen']\n"
    "net = nn.Sequential(nn.Linear(2, 3), Skew())\n"
)
_VALUES = "[v.detach() for k, v in m.state_dict().items()]"

CALLS: dict[str, str] = {
    # -- factories and configurations
    "factory/text": _Q + "[str(q), repr(AbsmaxObserver()), str(AbsmaxObserver(4))]",
    "factory/arguments": _Q + "(list(q.args), q.kwargs)",
    "config/text": _Q + "str(QuantConfig(activation=q, weight=None))",
    "config/text of nothing": _Q + "str(QuantConfig(activation=None, weight=None))",
    "config/details before": _Q + "QuantConfig(q, q).details()",
    "config/mappings": (
        _Q + "c = QuantConfig(q, q)\n[(k.__name__, v.__name__) for k, v in c.qat_layer_mappings.items()]"
    ),
    "config/fields": _Q + "c = QuantConfig(q, None)\n(str(c.global_config), c.customized_leaves)",
    "config/raises for no layer": _Q + "QuantConfig(q, q).add_qat_layer_mapping(3, nn.Linear)",
    # -- what holds for which layer
    "priority/global": _Q + _NET + "str(QAT(QuantConfig(q, q)).quantize(net))",
    "priority/activation only": _Q + _NET + "str(QAT(QuantConfig(q, None)).quantize(net))",
    "priority/weight only": _Q + _NET + "str(QAT(QuantConfig(None, q)).quantize(net))",
    "priority/nothing": _Q + _NET + "str(QAT(QuantConfig(None, None)).quantize(net))",
    **{
        f"priority/{name}": (
            _Q
            + _NET
            + "c = QuantConfig(None, None)\na, b = FQ(bit_length=4), FQ(bit_length=6)\n"
            + said
            + "m = QAT(c).quantize(net)\n"
            "[(n, l._bit_length) for n, l in m.named_sublayers() if 'FakeQuanter' in type(l).__name__]"
        )
        for name, said in {
            "type": "c.add_type_config(nn.Linear, a, b)\n",
            "types": "c.add_type_config([nn.Linear, nn.ReLU], a, b)\n",
            "layer": "c.add_layer_config(net.fc[0], a, b)\n",
            "layers": "c.add_layer_config([net.fc[0], net.conv], a, b)\n",
            "name": "c.add_name_config(net.fc[2].full_name(), weight=b)\n",
            "names": "c.add_name_config([net.fc[2].full_name(), net.act.full_name()], activation=a)\n",
            "layer around": "c.add_layer_config(net.fc, a, b)\n",
            "type of layer around": "c.add_type_config(nn.Sequential, a, b)\n",
            "layer over type": "c.add_type_config(nn.Linear, a, a)\nc.add_layer_config(net.fc[0], b, b)\n",
            "type after layer": "c.add_layer_config(net.fc[0], b, b)\nc.add_type_config(nn.Linear, a, a)\n",
            "type over layer around": (
                "c.add_layer_config(net.fc, a, a)\nc.add_type_config(nn.Linear, b, b)\n"
            ),
            "name and layer": (
                "c.add_name_config(net.fc[0].full_name(), a, a)\nc.add_layer_config(net.fc[0], b, b)\n"
            ),
            "layer and name": (
                "c.add_layer_config(net.fc[0], b, b)\nc.add_name_config(net.fc[0].full_name(), a, a)\n"
            ),
            "off again": "c = QuantConfig(a, a)\nc.add_type_config(nn.Linear)\n",
            "off again by layer": "c = QuantConfig(a, a)\nc.add_layer_config(net.fc)\n",
            "all by keyword": "c.add_layer_config(layer=net.conv, activation=a, weight=b)\n",
            "no subclass": (
                "class Own(nn.Linear):\n    pass\nnet.fc.add_sublayer('3', Own(3, 3))\n"
                "c.add_type_config(nn.Linear, a, a)\n"
            ),
        }.items()
    },
    "priority/text of layers": (
        _Q
        + _NET
        + "c = QuantConfig(None, q)\nc.add_type_config(nn.Linear, q, q)\nc.add_layer_config(net.fc, q)\n"
        "[str(c).count(w) for w in ('Layer type config:', 'Layer prefix config: ', 'SingleLayerConfig')]"
    ),
    "details": _BOTH + "[str(qat), repr(qat), qat._details()]",
    "details/of part": (
        _Q + _NET + "c = QuantConfig(None, None)\nc.add_layer_config(net.fc, q)\nqat = QAT(c)\n"
        "m = qat.quantize(net)\nstr(qat)"
    ),
    "leaf/own": (
        _Q + _NET + "c = QuantConfig(q, q)\nc.add_customized_leaf(nn.Sequential)\nstr(QAT(c).quantize(net))"
    ),
    "leaf/own without layers": (
        _Q + _NET + "c = QuantConfig(q, q)\nc.add_type_config([nn.Linear, nn.Conv2D])\n"
        "c.add_customized_leaf(nn.Sequential)\nstr(QAT(c).quantize(net))"
    ),
    "config/is copied": (
        _Q + _NET + "c = QuantConfig(None, None)\nqat = QAT(c)\nc.add_type_config(nn.Linear, q, q)\n"
        "str(qat.quantize(net))"
    ),
    # -- QAT
    "qat/raises in eval": _Q + _NET + "net.eval()\nQAT(QuantConfig(q, q)).quantize(net)",
    "qat/message": (
        _Q + _NET + "net.eval()\ns = ''\ntry:\n    QAT(QuantConfig(q, q)).quantize(net)\n"
        "except AssertionError as e:\n    s = str(e)\ns"
    ),
    "qat/copies": _BOTH + "(m is net, 'Quanted' in str(net), m.fc[0].weight is net.fc[0].weight)",
    "qat/in place": (
        _Q + _NET + "w = net.fc[0].weight\nm = QAT(QuantConfig(q, q)).quantize(net, inplace=True)\n"
        "(m is net, m.fc[0].weight is w, m.fc[0].weight.name)"
    ),
    "qat/state": _BOTH + "[(k, v.shape) for k, v in m.state_dict().items()]",
    "qat/names": _BOTH + "[p.name for p in m.parameters() if 'quant' in p.name]",
    "qat/named": (
        _Q + _NET + "b = FQ(name='own', dtype='float32')\nm = QAT(QuantConfig(b, None)).quantize(net)\n"
        "[p.name for p in m.parameters() if 'own' in p.name]"
    ),
    "qat/trained": _BOTH + "[(p.trainable, p.stop_gradient, p.persistable) for p in m.parameters()]",
    "qat/first values": _BOTH + _VALUES,
    "qat/train": _BOTH + "[m(x), m(y)]",
    "qat/train and state": _BOTH + "m(x)\nm(y)\n" + _VALUES,
    "qat/eval": _BOTH + "m(x)\nm(y)\nm.eval()\n[m(x), m(y)]",
    "qat/eval at once": _BOTH + "m.eval()\nm(x)",
    "qat/gradients": (
        _BOTH
        + "m(x)\nweighted(m(y)).backward()\n[p.grad.numpy() for p in m.parameters() if p.grad is not None]"
    ),
    "qat/gradient of the input": _BOTH + "m(x)\ngrad(m, y)",
    "qat/steps": _BOTH + _STEPS + _VALUES,
    "qat/bits": (
        _Q
        + _NET
        + "b = FQ(moving_rate=0.5, bit_length=3)\nm = QAT(QuantConfig(b, b)).quantize(net)\n[m(x), m(y)]"
    ),
    "qat/reflect": (
        _Q + "net = formula(nn.Sequential(nn.Conv2D(1, 2, 3, padding=1, padding_mode='reflect')))\n"
        "m = QAT(QuantConfig(q, q)).quantize(net)\n(m(t([1, 1, 4, 4])), m(t([1, 1, 4, 4])))"
    ),
    "qat/strides": (
        _Q + "net = formula(nn.Sequential(nn.Conv2D(2, 4, 3, stride=2, padding=1, dilation=1, groups=2, "
        "bias_attr=False, data_format='NHWC')))\nm = QAT(QuantConfig(q, q)).quantize(net)\nm(t([1, 5, 5, 2]))"
    ),
    "qat/stub of its own": (
        _Q + "net = nn.Sequential(paddle.nn.quant.Stub(AbsmaxObserver()), nn.Identity())\n"
        "c = QuantConfig(None, None)\nc.add_type_config(paddle.nn.quant.Stub)\nstr(QAT(c).quantize(net))"
    ),
    "qat/stub of none": (
        _Q + "net = nn.Sequential(paddle.nn.quant.Stub(), nn.Identity())\nc = QuantConfig(None, None)\n"
        "c.add_type_config(paddle.nn.quant.Stub)\nm = QAT(c).quantize(net)\n(str(m), m(t([2])))"
    ),
    # -- PTQ
    "ptq/raises in training": _Q + _NET + "PTQ(QuantConfig(q, q)).quantize(net)",
    "ptq/message": (
        _Q + _NET + "s = ''\ntry:\n    PTQ(QuantConfig(q, q)).quantize(net)\n"
        "except AssertionError as e:\n    s = str(e)\ns"
    ),
    "ptq/text": _PTQ + "str(m)",
    "ptq/state": _PTQ + "list(m.state_dict())",
    "ptq/observed": _PTQ + "[l.scales() for l in m.sublayers() if 'Observer' in type(l).__name__]",
    "ptq/same result": _PTQ + "m(x) - net(x)",
    "ptq/in place": (
        _Q
        + _NET
        + "net.eval()\nm = PTQ(QuantConfig(q, q)).quantize(net, inplace=True)\n(m is net, m.training)"
    ),
    "ptq/copies": _PTQ + "(m is net, m.training, 'Quanted' in str(net))",
    "ptq/observer": (
        _Q + "o = AbsmaxObserver(4)._instance(None)\nb = [o.scales()]\no(t([3]))\no.cal_thresholds()\n"
        "(b, o.scales(), o.thresholds, o.bit_length(), o.quant_axis(), o.zero_points())"
    ),
    "ptq/groups": (
        _Q + "o = GroupWiseWeightObserver()._instance(None)\no(t([256, 3]))\n"
        "(o.scales(), o.zero_points(), o.quant_axis(), o.min_value(), o.max_value())"
    ),
    "ptq/raises for groups": _Q + "GroupWiseWeightObserver()._instance(None)(t([100, 3]))",
    # -- convert
    "convert/text": _BOTH + "m(x)\nm.eval()\nstr(qat.convert(m))",
    "convert/text with weights": _BOTH + "m(x)\nm.eval()\nstr(qat.convert(m, remain_weight=True))",
    "convert/state": _BOTH + "m(x)\nm.eval()\n[(k, v.shape) for k, v in qat.convert(m).state_dict().items()]",
    "convert/values": _BOTH + "m(x)\nm.eval()\nm = qat.convert(m)\n" + _VALUES,
    "convert/values with weights": _BOTH
    + "m(x)\nm.eval()\nm = qat.convert(m, remain_weight=True)\n"
    + _VALUES,
    "convert/result": _BOTH + "m(x)\nm.eval()\nqat.convert(m)(y)",
    "convert/same result": (
        _BOTH + _STEPS + "m.eval()\na = m(y)\n"
        "[bool((qat.convert(m, remain_weight=r)(y) == a).all()) for r in (True, False)]"
    ),
    "convert/copies": _BOTH + "m(x)\nc = qat.convert(m)\n(c is m, 'Linear' in str(m.conv), m.conv.converted)",
    "convert/in place": _BOTH + "m(x)\nc = qat.convert(m, inplace=True)\n(c is m, m.conv.converted)",
    "convert/twice": _BOTH + "m(x)\nc = qat.convert(m)\nstr(qat.convert(c)) == str(c)",
    "convert/without a weight's quanter": (
        _Q
        + _NET
        + "qat = QAT(QuantConfig(q, None))\nm = qat.quantize(net)\nm(x)\nm.eval()\nstr(qat.convert(m))"
    ),
    "convert/without an input's quanter": (
        _Q
        + _NET
        + "qat = QAT(QuantConfig(None, q))\nm = qat.quantize(net)\nm(x)\nm.eval()\nc = qat.convert(m)\n"
        "(str(c), c(y))"
    ),
    "convert/ptq": _PTQ + "c = ptq.convert(m)\n(str(c), c(x), c(y))",
    "convert/ptq values": _PTQ + "m = ptq.convert(m)\n" + _VALUES,
    "convert/gradient": _BOTH + "m(x)\nm.eval()\ngrad(qat.convert(m), y)",
    "convert/raises twice by hand": _BOTH + "m(x)\nc = qat.convert(m)\nc.conv._convert()",
    "convert/raises for no quanter": ("paddle.nn.quant.format.LinearQuanterDequanter.from_quanter(None)"),
    # -- layers of conversion
    "format/quanter": (
        "l = paddle.nn.quant.format.LinearQuanter(t([1]) + 2, bit_length=4)\n"
        "(l(t([7]) * 3), list(l.state_dict()))"
    ),
    "format/dequanter": (
        "l = paddle.nn.quant.format.LinearDequanter(t([1]) + 2, bit_length=4)\nl(ints([7], 8, 'float32'))"
    ),
    "format/channels": (
        "f = paddle.nn.quant.format\ns = pos([3])\nl = [f.LinearQuanter(s, None, a) for a in (0, 1)]\n"
        "[l[0](t([3, 4])), l[1](t([4, 3]))]"
    ),
    "format/dequanter of channels": (
        "l = paddle.nn.quant.format.LinearDequanter(pos([3]), quant_axis=1)\nl(ints([4, 3], 100, 'float32'))"
    ),
    "format/groups": (
        "f = paddle.nn.quant.format\ns = pos([2, 3])\nw = t([128, 3])\n"
        "q = f.LinearQuanter(s, group_size=64)(w)\n(q[::16], f.LinearDequanter(s, group_size=64)(q)[::16])"
    ),
    "format/both": (
        "f = paddle.nn.quant.format\nl = f.LinearQuanterDequanter(None, None)\n(str(l), l(t([3])))"
    ),
    # -- own layers and quanters
    "own/quanter": (
        _Q + _OWN + _NET + "o = Own(bits=5)\nm = QAT(QuantConfig(o, o)).quantize(net)\n(str(o), str(m), m(x))"
    ),
    "own/convert": (
        _Q + _OWN + _NET + "o = Own(bits=5)\nqat = QAT(QuantConfig(o, o))\nm = qat.quantize(net)\nm.eval()\n"
        "c = qat.convert(m)\n(str(c), c(x))"
    ),
    "own/layer": (
        _Q + _SKEW + "c = QuantConfig(q, q)\nc.add_qat_layer_mapping(Skew, QuantedSkew)\nqat = QAT(c)\n"
        "m = formula(qat.quantize(net))\nm(t([2, 2]))\nm.eval()\nv = m(t([2, 2]))\nk = qat.convert(m)\n"
        "(str(m), v, str(k), k(t([2, 2])))"
    ),
    "own/layer without mapping": _Q + _SKEW + "str(QAT(QuantConfig(q, q)).quantize(net))",
    "own/linear": (
        _Q + "class Own(paddle.nn.quant.qat.QuantedLinear):\n    pass\n"
        "c = QuantConfig(q, q)\nc.add_qat_layer_mapping(nn.Linear, Own)\n"
        "(str(QAT(c).quantize(nn.Sequential(nn.Linear(2, 2)))), c.default_qat_layer_mapping[nn.Linear])"
    ),
    "own/raises without a method": (
        _Q + "class Part(BaseQuanter):\n    def forward(self, x):\n        return x\nPart()"
    ),
    "own/observer": (
        _Q + "(BaseObserver.__mro__[1] is BaseQuanter, sorted(BaseObserver.__abstractmethods__))"
    ),
}
