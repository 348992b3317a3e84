"""Layers, containers and what belongs to their state: the less used part."""

_NET = (
    "class Net(nn.Layer):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.fc = nn.Linear(2, 2)\n"
    "        self.norm = nn.BatchNorm1D(2)\n"
    "        self.register_buffer('kept', paddle.ones([2]))\n"
    "        self.register_buffer('apart', paddle.ones([2]), persistable=False)\n"
    "        self.plain = paddle.zeros([1])\n"
    "    def forward(self, x):\n"
    "        return self.norm(self.fc(x)) + self.kept\n"
    "net = formula(Net())\n"
)
_SEQ = "s = nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 3))\n"
_LIST = "l = nn.LayerList([nn.Linear(1, n) for n in (1, 2, 3)])\n"
_DICT = "d = nn.LayerDict({'a': nn.Linear(1, 1), 'b': nn.ReLU()})\n"
_KINDS = "[(type(x).__name__, list(x.weight.shape) if hasattr(x, 'weight') else None) for x in {}]"

CALLS: dict[str, str] = {
    # -- state
    "state/keys": _NET + "list(net.state_dict())",
    "state/static keys": _NET + "list(net.to_static_state_dict())",
    "state/destination": _NET + "d = {'x': 1}\nlist(net.state_dict(destination=d))",
    "state/hook": (
        _NET + "net.register_state_dict_hook(lambda d: {k: v for k, v in d.items() if 'fc' in k})\n"
        "list(net.state_dict())"
    ),
    "state/report": (
        _NET + "net.set_state_dict({'fc.weight': np.ones((2, 2), 'float32'), 'nothing': np.ones(2)})"
    ),
    "state/other shape": (
        _NET + "r = net.set_state_dict({'fc.bias': np.ones(3, 'float32')})\n(r, net.fc.bias.detach())"
    ),
    "state/by parameter name": (
        _NET + "r = net.set_state_dict({net.fc.bias.name: np.ones(2, 'float32')}, False)\n"
        "(len(r[0]), r[1], net.fc.bias.detach())"
    ),
    "state/load_dict": _NET + "net.load_dict({'kept': np.zeros(2, 'float32')})\nnet.kept",
    "state/raises for a number": _NET + "net.set_state_dict(3)",
    "buffers": _NET + "[n for n, _ in net.named_buffers()]",
    "buffers/without sublayers": _NET + "[n for n, _ in net.named_buffers(include_sublayers=False)]",
    "buffers/prefix": _NET + "[n for n, _ in net.named_buffers(prefix='p')]",
    "buffers/raises for a layer": _NET + "net.fc = 3\nnet",
    "buffers/raises for a number": _NET + "net.kept = 3\nnet",
    "buffers/none": _NET + "net.kept = None\n(list(net.state_dict()), net._buffers['kept'])",
    "fields": _NET + "(list(net._parameters), list(net._sub_layers), list(net._buffers), net.training)",
    "fields/types": (
        _NET + "[type(getattr(net, n)).__name__ for n in ('_parameters', '_sub_layers', '_buffers')]"
    ),
    "fields/parameter over layer": (
        _NET + "net.fc = net.create_parameter([1])\n(list(net._parameters), list(net._sub_layers))"
    ),
    "fields/layer over buffer": _NET + "net.plain = nn.ReLU()\n(list(net._sub_layers), list(net._buffers))",
    "fields/delete": (
        _NET + "del net.fc, net.kept\n(list(net._sub_layers), list(net._buffers), hasattr(net, 'fc'))"
    ),
    "fields/dir": _NET + "[n in dir(net) for n in ('fc', 'kept', 'apart', 'forward', 'nothing')]",
    # -- making
    "create_parameter/name": "nn.Linear(1, 1).create_parameter([2, 2]).name",
    "create_parameter/bias": "p = nn.Linear(1, 1).create_parameter([2], is_bias=True)\n(p.name, p.detach())",
    "create_parameter/text": "nn.Linear(1, 1).create_parameter([2], attr='own').name",
    "create_parameter/dtype": "str(nn.Linear(1, 1).create_parameter([2], dtype='float64').dtype)",
    "create_parameter/default": (
        "nn.Linear(1, 1).create_parameter([2], default_initializer=nn.initializer.Constant(3.0)).detach()"
    ),
    "create_parameter/attr first": (
        "nn.Linear(1, 1).create_parameter([2], attr=nn.initializer.Constant(2.0), "
        "default_initializer=nn.initializer.Constant(3.0)).detach()"
    ),
    "create_parameter/frozen": (
        "p = nn.Linear(1, 1).create_parameter([2], attr=paddle.ParamAttr(trainable=False, "
        "learning_rate=0.5))\n"
        "(p.trainable, p.stop_gradient, p.optimize_attr, p.need_clip, p.persistable, p.is_leaf)"
    ),
    "create_parameter/paddle": (
        "p = paddle.create_parameter([2, 3], 'float32')\n(p.name, p.shape, p.stop_gradient)"
    ),
    "create_parameter/paddle name": "paddle.create_parameter([2], 'float32', name='own').name",
    "create_parameter/paddle bias": (
        "p = paddle.create_parameter([2], 'float32', is_bias=True)\n(p.name, p.detach())"
    ),
    "create_parameter/raises for 0": "paddle.create_parameter([0, 2], 'float32')",
    "create_parameter/raises for int64": "paddle.create_parameter([2], 'int64')",
    "default dtype": (
        "paddle.set_default_dtype('float64')\nl = nn.Linear(1, 1)\npaddle.set_default_dtype('float32')\n"
        "(str(l.weight.dtype), str(nn.Linear(1, 1).weight.dtype))"
    ),
    "ParamAttr/text": (
        "p = paddle.ParamAttr(name='w', learning_rate=0.5)\n"
        "(p.name, p.learning_rate, p.trainable, p.need_clip)"
    ),
    "ParamAttr/raises for a number": (
        "nn.Linear(1, 1, weight_attr=paddle.ParamAttr(initializer=3)).weight.shape"
    ),
    "set_global_initializer": (
        "nn.initializer.set_global_initializer(nn.initializer.Constant(2.0), nn.initializer.Constant(1.0))\n"
        "l = nn.Linear(1, 2)\nnn.initializer.set_global_initializer(None)\n"
        "(l.weight.detach(), l.bias.detach())"
    ),
    # -- hooks
    "hook/pre replaces": (
        "l = formula(nn.Linear(2, 1))\nh = l.register_forward_pre_hook(lambda layer, x: (x[0] * 2,))\n"
        "a = l(t([1, 2])).detach()\nh.remove()\n(a, l(t([1, 2])).detach())"
    ),
    "hook/pre not in a tuple": (
        "l = formula(nn.Linear(2, 1))\nl.register_forward_pre_hook(lambda layer, x: x[0] * 2)\n"
        "l(t([1, 2])).detach()"
    ),
    "hook/post replaces": (
        "l = formula(nn.Linear(2, 1))\nh = l.register_forward_post_hook(lambda layer, x, y: y + x[0].sum())\n"
        "a = l(t([1, 2])).detach()\nh.remove()\nh.remove()\n(a, l(t([1, 2])).detach())"
    ),
    "hook/calls": (
        "seen = []\nl = nn.Sequential(nn.ReLU(), nn.Tanh())\n"
        "for x in l.sublayers(include_self=True):\n"
        "    x.register_forward_post_hook(lambda layer, i, o: seen.append(type(layer).__name__))\n"
        "l(t([2]))\nseen"
    ),
    # -- changing all
    "to/float64": (
        _NET + "r = net.to(dtype='float64')\n"
        "(r is net, sorted({str(p.dtype) for p in net.state_dict().values()}))"
    ),
    "to/cpu": _NET + "str(net.to('cpu').fc.weight.place)",
    "to/gradient": (
        "l = formula(nn.Linear(2, 1))\nl(t([1, 2])).sum().backward()\nl.to(dtype='float64')\n"
        "l.weight.grad.detach()"
    ),
    "to/raises for blocking": "nn.Linear(1, 1).to(blocking=3)",
    "float": (
        _NET + "net.to(dtype='float64')\nnet.float()\n"
        "sorted({str(p.dtype) for p in net.state_dict().values()})"
    ),
    "train/back": (
        _NET + "net.eval()\na = [x.training for x in net.sublayers(include_self=True)]\nnet.train()\n"
        "(a, net.norm.training)"
    ),
    "apply/order": (
        "seen = []\nnn.Sequential(nn.Sequential(nn.ReLU()), nn.Tanh()).apply(lambda x: "
        "seen.append(type(x).__name__))\nseen"
    ),
    "deepcopy/apart": (
        "import copy\nl = formula(nn.Linear(1, 2))\nm = copy.deepcopy(l)\n"
        "m.weight.set_value(paddle.zeros([1, 2]))\n"
        "(l.weight.detach(), m.weight.detach(), m.weight.stop_gradient)"
    ),
    "deepcopy/hooks": (
        "import copy\nl = nn.ReLU()\nl.register_forward_post_hook(lambda layer, x, y: y + 1)\n"
        "copy.deepcopy(l)(t([2]))"
    ),
    # -- containers
    "Sequential/index": _SEQ + "(type(s[1]).__name__, s[-1].weight.shape, len(s))",
    "Sequential/slice": _SEQ + "(type(s[:2]).__name__, " + _KINDS.format("s[:2]") + ")",
    "Sequential/named": (
        "s = nn.Sequential(('a', nn.ReLU()), ('b', nn.Tanh()))\n(list(s._sub_layers), type(s['b']).__name__)"
    ),
    "Sequential/set": _SEQ + "s[1] = nn.Tanh()\ntype(s[1]).__name__",
    "Sequential/delete": _SEQ + "del s[1]\n(len(s), list(s._sub_layers))",
    "Sequential/iterate": _SEQ + _KINDS.format("s"),
    "Sequential/add": _SEQ + "s.add_sublayer('last', nn.ReLU())\nlist(s._sub_layers)",
    "Sequential/raises for a number": "nn.Sequential(3)",
    "LayerList/append": _LIST + "l.append(nn.ReLU())\n" + _KINDS.format("l"),
    "LayerList/insert": _LIST + "l.insert(1, nn.ReLU())\n" + _KINDS.format("l"),
    "LayerList/insert from the end": _LIST + "l.insert(-1, nn.ReLU())\n" + _KINDS.format("l"),
    "LayerList/raises for insert beyond": _LIST + "l.insert(7, nn.ReLU())",
    "LayerList/extend": _LIST + "l.extend([nn.ReLU(), nn.Tanh()])\n" + _KINDS.format("l"),
    "LayerList/negative": _LIST + "list(l[-1].weight.shape)",
    "LayerList/slice": (
        _LIST + "(type(l[1:]).__name__, " + _KINDS.format("l[1:]") + ", list(l[1:]._sub_layers))"
    ),
    "LayerList/set": _LIST + "l[1] = nn.ReLU()\n" + _KINDS.format("l"),
    "LayerList/delete": _LIST + "del l[0]\n(" + _KINDS.format("l") + ", list(l._sub_layers))",
    "LayerList/delete slice": _LIST + "del l[:2]\n(" + _KINDS.format("l") + ", list(l._sub_layers))",
    "LayerList/names": _LIST + "[n for n, _ in l.named_parameters()]",
    "LayerDict/keys": _DICT + "(list(d.keys()), len(d), 'a' in d, [k for k in d])",
    "LayerDict/items": _DICT + "[(k, type(v).__name__) for k, v in d.items()]",
    "LayerDict/set": _DICT + "d['c'] = nn.Tanh()\ndel d['a']\nlist(d.keys())",
    "LayerDict/pop": _DICT + "p = d.pop('b')\n(type(p).__name__, list(d.keys()))",
    "LayerDict/update": (
        _DICT + "d.update([('b', nn.Tanh()), ('z', nn.ReLU())])\n"
        "[(k, type(v).__name__) for k, v in d.items()]"
    ),
    "LayerDict/update by a dict": _DICT + "d.update(nn.LayerDict({'q': nn.Tanh()}))\nlist(d.keys())",
    "LayerDict/clear": _DICT + "d.clear()\nlen(d)",
    "LayerDict/raises for a key": _DICT + "d['nothing']",
    "LayerDict/parameters": _DICT + "[n for n, _ in d.named_parameters()]",
    "ParameterList/use": (
        "l = nn.ParameterList([paddle.create_parameter([n], 'float32') for n in (1, 2)])\n"
        "l.append(paddle.create_parameter([3], 'float32'))\n"
        "(len(l), [p.shape for p in l], l[1].shape, [n for n, _ in l.named_parameters()])"
    ),
    # -- utils
    "weight_norm/gradient": (
        "l = nn.utils.weight_norm(formula(nn.Linear(2, 3)), dim=1)\nl(t([4, 2])).sum().backward()\n"
        "(l.weight_g.grad, l.weight_v.grad)"
    ),
    "weight_norm/all": (
        "l = nn.utils.weight_norm(formula(nn.Linear(2, 3)), dim=None)\n"
        "(l.weight_g.detach(), l(t([1, 2])).detach())"
    ),
    "weight_norm/conv": (
        "l = nn.utils.weight_norm(formula(nn.Conv2D(2, 3, 2)), dim=1)\n"
        "(l.weight_g.detach(), l(t([1, 2, 3, 3])).detach())"
    ),
    "weight_norm/raises twice": "nn.utils.weight_norm(nn.utils.weight_norm(nn.Linear(2, 3)))",
    "weight_norm/raises for a dim": "nn.utils.weight_norm(nn.Linear(2, 3), dim=2)",
    "weight_norm/raises for none": "nn.utils.remove_weight_norm(nn.Linear(2, 3))",
    "spectral_norm/shapes": (
        "l = nn.utils.spectral_norm(nn.Conv2D(2, 3, 2))\n"
        "(l.weight_orig.shape, l.weight_u.shape, l.weight_v.shape)"
    ),
    "spectral_norm/linear": (
        "l = nn.utils.spectral_norm(nn.Linear(2, 3))\n(l.weight_u.shape, l.weight_v.shape)"
    ),
    "spectral_norm/converges": (
        "l = nn.utils.spectral_norm(formula(nn.Linear(3, 3)), n_power_iterations=60)\nl(t([1, 3]))\n"
        "float(np.round(np.linalg.svd(l.weight.numpy())[1][0], 4))"
    ),
    "spectral_norm/raises for no iterations": "nn.utils.spectral_norm(nn.Linear(2, 3), n_power_iterations=0)",
    "clip_grad_norm_/max": (
        "l = formula(nn.Linear(2, 2))\nl(t([3, 2])).sum().backward()\n"
        "n = nn.utils.clip_grad_norm_(l.parameters(), 0.5, norm_type=float('inf'))\n"
        "(n, l.weight.grad, l.bias.grad)"
    ),
    "clip_grad_norm_/sum": (
        "l = formula(nn.Linear(2, 2))\nl(t([3, 2])).sum().backward()\n"
        "n = nn.utils.clip_grad_norm_(l.parameters(), 0.5, norm_type=1)\n(n, l.weight.grad)"
    ),
    "clip_grad_norm_/small": (
        "l = formula(nn.Linear(2, 2))\nl(t([3, 2])).sum().backward()\n"
        "n = nn.utils.clip_grad_norm_(l.weight, 50)\n(n, l.weight.grad, l.bias.grad)"
    ),
    "clip_grad_norm_/none": "nn.utils.clip_grad_norm_(nn.Linear(1, 1).parameters(), 1.0)",
    "clip_grad_norm_/raises for a type": (
        "nn.utils.clip_grad_norm_(nn.Linear(1, 1).parameters(), 1.0, norm_type=3)"
    ),
    "clip_grad_norm_/raises for infinity": (
        "l = nn.Linear(1, 1)\n(l(t([1, 1])) * float('inf')).sum().backward()\n"
        "nn.utils.clip_grad_norm_(l.parameters(), 1.0, error_if_nonfinite=True)"
    ),
    "parameters_to_vector/leaf": (
        "v = nn.utils.parameters_to_vector(nn.Linear(2, 2).parameters())\n"
        "(v.shape, v.stop_gradient, v.is_leaf)"
    ),
    "vector_to_parameters/raises for a size": (
        "nn.utils.vector_to_parameters(t([5]), nn.Linear(2, 2).parameters())"
    ),
    "regularizer/text": "(str(paddle.regularizer.L1Decay(0.5)), str(paddle.regularizer.L2Decay(0.25)))",
}
