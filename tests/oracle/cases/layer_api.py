"""What a Layer says and gives: texts, names, keys, order, reports, hooks, modes."""

_NET = (
    "net = nn.Sequential(nn.Conv2D(1, 2, 3), nn.BatchNorm2D(2), nn.ReLU(), nn.Flatten(), nn.Linear(8, 3))\n"
)
_OWN = (
    "class Block(nn.Layer):\n"
    "    def __init__(self, size):\n"
    "        super().__init__()\n"
    "        self.fc = nn.Linear(size, size)\n"
    "        self.norm = nn.LayerNorm(size)\n"
    "        self.register_buffer('steps', paddle.zeros([1]))\n"
    "        self.scale = self.create_parameter([size], default_initializer=nn.initializer.Constant(2.0))\n"
    "    def forward(self, x):\n"
    "        return self.norm(self.fc(x)) * self.scale\n"
    "class Net(nn.Layer):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.blocks = nn.LayerList([Block(2), Block(3)])\n"
    "        self.head = nn.Linear(3, 1)\n"
    "net = Net()\n"
)
_REPRS = [
    "nn.Linear(2, 3)", "nn.Linear(2, 3, bias_attr=False)", "nn.Conv2D(1, 2, 3)",
    "nn.Conv2D(1, 2, (3, 5), stride=2, padding=1, dilation=2, groups=1, padding_mode='reflect')",
    "nn.Conv2D(2, 2, 3, padding='SAME', groups=2, data_format='NHWC')", "nn.Conv1D(1, 2, 3)",
    "nn.Conv3D(1, 2, 3)", "nn.Conv2DTranspose(1, 2, 3, stride=2)", "nn.BatchNorm1D(3)",
    "nn.BatchNorm2D(3, momentum=0.8, epsilon=1e-3)", "nn.BatchNorm3D(2)", "nn.BatchNorm(3)",
    "nn.LayerNorm(4)", "nn.LayerNorm([2, 3], epsilon=1e-3)", "nn.GroupNorm(2, 4)", "nn.InstanceNorm2D(3)",
    "nn.MaxPool2D(2, 2)", "nn.AvgPool2D(3, stride=1, padding=1, exclusive=False)", "nn.AdaptiveAvgPool2D(1)",
    "nn.AdaptiveMaxPool2D((2, 3))", "nn.MaxPool1D(2)", "nn.AvgPool3D(2)", "nn.ReLU()", "nn.GELU()",
    "nn.GELU(True)", "nn.LeakyReLU()", "nn.LeakyReLU(0.2)", "nn.Sigmoid()", "nn.Softmax()", "nn.Softmax(1)",
    "nn.Tanh()", "nn.PReLU()", "nn.ELU(0.5)", "nn.Hardtanh()", "nn.Softplus()", "nn.Hardswish()",
    "nn.Silu()", "nn.Swish()", "nn.Mish()", "nn.ReLU6()", "nn.SELU()", "nn.Dropout()",
    "nn.Dropout(0.3, axis=0)", "nn.Dropout2D(0.3)", "nn.AlphaDropout(0.3)", "nn.Embedding(10, 3)",
    "nn.Embedding(10, 3, padding_idx=0)", "nn.Flatten()", "nn.Flatten(0, 1)", "nn.Identity()", "nn.Pad2D(1)",
    "nn.Pad1D([1, 2], mode='reflect')", "nn.ZeroPad2D([1, 2, 3, 4])", "nn.Upsample(scale_factor=2)",
    "nn.Upsample(size=[4, 4], mode='bilinear')", "nn.PixelShuffle(2)", "nn.CosineSimilarity()",
    "nn.CrossEntropyLoss()", "nn.MSELoss()", "nn.LSTM(2, 3)",
    "nn.LSTM(2, 3, 2, direction='bidirectional', dropout=0.1)", "nn.GRU(2, 3, time_major=True)",
    "nn.SimpleRNN(2, 3)", "nn.LSTMCell(2, 3)", "nn.GRUCell(2, 3)",
    "nn.SimpleRNNCell(2, 3, activation='relu')", "nn.MultiHeadAttention(4, 2)",
    "nn.TransformerEncoderLayer(4, 2, 8)",
    "nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 2)", "nn.Sequential()", "nn.LayerList()",
    "nn.Sequential(('a', nn.ReLU()), ('b', nn.Linear(1, 2)))", "nn.LayerList([nn.ReLU(), nn.Linear(1, 2)])",
    "nn.LayerDict({'a': nn.ReLU()})", "nn.ParameterList([paddle.create_parameter([2], 'float32')])",
    "nn.Sequential(nn.Sequential(nn.ReLU()), nn.Linear(1, 1))", "nn.Bilinear(2, 3, 4)", "nn.Unfold(2)",
    "nn.LocalResponseNorm(3)", "nn.SpectralNorm([2, 3])", "nn.Maxout(2)", "nn.Softshrink()",
    "nn.Unflatten(1, [2, 2])"
]
_NAMED = (
    "nn.Linear(1, 1)", "nn.Conv2D(1, 1, 1)", "nn.BatchNorm2D(1)", "nn.LayerNorm(1)", "nn.Embedding(2, 2)",
    "nn.ReLU()", "nn.Dropout()", "nn.Sequential()", "nn.LayerList()", "nn.LSTM(1, 1)", "nn.GRUCell(1, 1)",
    "nn.MaxPool2D(2)", "nn.Flatten()", "nn.CrossEntropyLoss()", "nn.MultiHeadAttention(2, 1)", "nn.PReLU()",
    "nn.Conv2DTranspose(1, 1, 1)", "nn.GroupNorm(1, 1)", "nn.InstanceNorm1D(1)", "nn.Softmax()",
    "nn.Pad2D(1)", "nn.TransformerEncoderLayer(2, 1, 2)", "nn.Upsample(size=[2, 2])", "nn.Conv1D(1, 1, 1)",
    "nn.Identity()"
)

CALLS: dict[str, str] = {
    **{f"repr/{code}": f"repr({code})" for code in _REPRS},
    **{
        f"names/{code}": f"l = {code}\n"
        "(l.full_name(), [p.name for p in l.parameters()], list(l.state_dict()))"
        for code in _NAMED
    },
    "repr/net": _NET + "repr(net)",
    "repr/own": _OWN + "repr(net)",
    "str/own": _OWN + "str(net)",
    "repr/extra": (
        "class A(nn.Layer):\n    def extra_repr(self):\n        return 'size=3'\n"
        "class B(nn.Layer):\n    def __init__(self):\n        super().__init__()\n        self.a = A()\n"
        "    def extra_repr(self):\n        return 'both'\n(repr(A()), repr(B()))"
    ),
    "full_name/own": _OWN + "(net.full_name(), net.blocks[1].full_name(), net.head.full_name())",
    "full_name/scope": "nn.Layer(name_scope='my_net').full_name()",
    "full_name/counts": "[nn.Linear(1, 1).full_name() for n in range(3)]",
    "full_name/camel case": "class MyBigLayer(nn.Layer):\n    pass\nMyBigLayer().full_name()",
    "state_dict/keys": _OWN + "list(net.state_dict())",
    "state_dict/net": _NET + "list(net.state_dict())",
    "state_dict/without sublayers": _OWN + "list(net.blocks[0].state_dict(include_sublayers=False))",
    "state_dict/prefix": _OWN + "list(net.head.state_dict(structured_name_prefix='old.'))",
    "state_dict/not structured": _OWN + "list(net.state_dict(use_hook=False))[:3]",
    "parameters/names": _OWN + "[p.name for p in net.parameters()]",
    "parameters/without sublayers": (
        _OWN + "[p.name for p in net.blocks[0].parameters(include_sublayers=False)]"
    ),
    "named_parameters": _OWN + "[(n, p.name, p.shape) for n, p in net.named_parameters()]",
    "named_parameters/prefix": _OWN + "[n for n, p in net.head.named_parameters(prefix='x')]",
    "named_sublayers": _OWN + "[(n, type(l).__name__) for n, l in net.named_sublayers()]",
    "named_sublayers/self": _OWN + "[n for n, l in net.named_sublayers(prefix='p', include_self=True)]",
    "sublayers": _OWN + "[type(l).__name__ for l in net.sublayers()]",
    "sublayers/self": _OWN + "[type(l).__name__ for l in net.sublayers(include_self=True)]",
    "children": _OWN + "[type(l).__name__ for l in net.children()]",
    "named_children": _OWN + "[n for n, l in net.named_children()]",
    "buffers": _OWN + "[b.shape for b in net.buffers()]",
    "named_buffers": _OWN + "[n for n, b in net.named_buffers()]",
    "buffers/of a norm": "[(n, b.name, b.shape) for n, b in nn.BatchNorm2D(3).named_buffers()]",
    "register_buffer/not persistable": (
        "l = nn.Layer()\nl.register_buffer('a', t([2]), persistable=False)\nl.register_buffer('b', t([1]))\n"
        "(list(l.state_dict()), [n for n, b in l.named_buffers()])"
    ),
    "register_buffer/none": "l = nn.Layer()\nl.register_buffer('a', None)\n(l.a, list(l.state_dict()))",
    "register_buffer/raises for a taken name": "l = nn.Linear(1, 1)\nl.register_buffer('weight', t([1]))",
    "register_buffer/raises for a dot": "nn.Layer().register_buffer('a.b', t([1]))",
    "register_buffer/raises for a number": "nn.Layer().register_buffer('a', 1.0)",
    "add_parameter": (
        "l = nn.Layer()\np = l.add_parameter('w', l.create_parameter([2, 2]))\n"
        "(list(l.state_dict()), p.name, p is l.w)"
    ),
    "add_parameter/raises for a dot": "l = nn.Layer()\nl.add_parameter('a.b', l.create_parameter([1]))",
    "add_parameter/raises for a tensor": "nn.Layer().add_parameter('a', t([1]))",
    "add_sublayer": "l = nn.Layer()\nl.add_sublayer('fc', nn.Linear(1, 1))\nrepr(l)",
    "add_sublayer/raises for a function": "nn.Layer().add_sublayer('a', len)",
    "create_parameter": (
        "l = nn.Layer()\np, b = l.create_parameter([2, 3]), l.create_parameter([3], is_bias=True)\n"
        "(p.name, b.name, str(p.dtype), p.stop_gradient, b.detach())"
    ),
    "create_parameter/attr": (
        "l = nn.Layer()\nl.create_parameter([2], attr=paddle.ParamAttr(name='mine', trainable=False, "
        "initializer=nn.initializer.Assign([1.0, 2.0])))"
    ),
    "create_parameter/false": "nn.Layer().create_parameter([2], attr=False)",
    "set_state_dict/report": _OWN
    + ("kept = net.state_dict()\nkept['more'] = kept.pop('head.bias')\nnet.set_state_dict(kept)"),
    "set_state_dict/values": (
        "a, b = formula(nn.Linear(2, 2)), nn.Linear(2, 2)\nb.set_state_dict(a.state_dict())\n"
        "b.weight.detach()"
    ),
    "set_state_dict/arrays": (
        "b = nn.Linear(2, 2)\n"
        "b.set_state_dict({'weight': np.ones((2, 2), 'float32'), 'bias': np.ones(2, 'float32')})\n"
        "b.bias.detach()"
    ),
    "train": (
        _NET + "a = net.training\nnet.eval()\nb = [l.training for l in net]\nnet.train()\n"
        "(a, b, net[0].training)"
    ),
    "apply": _NET + ("seen = []\nnet.apply(lambda l: seen.append(type(l).__name__))\nseen"),
    "clear_gradients": (
        "l = formula(nn.Linear(2, 1))\nl(t([3, 2])).sum().backward()\nl.clear_gradients()\nl.weight.grad"
    ),
    "to/dtype": "l = nn.Linear(2, 2).to(dtype='float64')\nstr(l.weight.dtype)",
    "astype": "l = nn.Linear(2, 2).astype('float64')\nstr(l.weight.dtype)",
    "float16": "l = nn.Linear(2, 2)\nl.to(dtype=paddle.float16)\nstr(l.bias.dtype)",
    "hook/pre": (
        "l = formula(nn.Linear(2, 2))\nl.register_forward_pre_hook(lambda layer, inputs: (inputs[0] * 2,))\n"
        "l(t([1, 2])).detach()"
    ),
    "hook/post": (
        "l = formula(nn.Linear(2, 2))\nh = l.register_forward_post_hook(lambda layer, inputs, out: out * 2)\n"
        "a = l(t([1, 2])).detach()\nh.remove()\n(a, l(t([1, 2])).detach())"
    ),
    "hook/order": (
        "seen = []\nl = nn.Linear(2, 2)\nl.register_forward_pre_hook(lambda a, b: seen.append('pre'))\n"
        "l.register_forward_post_hook(lambda a, b, c: seen.append('post'))\nl(t([1, 2]))\nseen"
    ),
    "Sequential": (
        "s = nn.Sequential(nn.ReLU(), nn.Tanh())\n"
        "(len(s), type(s[1]).__name__, [n for n, l in s.named_children()])"
    ),
    "Sequential/names": (
        "s = nn.Sequential(('one', nn.ReLU()), ('two', nn.Tanh()))\n"
        "(type(s['two']).__name__, list(s._sub_layers))"
    ),
    "Sequential/slice": "s = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.Sigmoid())\nrepr(s[1:])",
    "Sequential/set": "s = nn.Sequential(nn.ReLU(), nn.Tanh())\ns[0] = nn.Sigmoid()\nrepr(s)",
    "LayerList": (
        "l = nn.LayerList([nn.ReLU()])\nl.append(nn.Tanh())\nl.insert(0, nn.Sigmoid())\n"
        "l.extend([nn.GELU()])\n"
        "(len(l), [type(x).__name__ for x in l], type(l[-1]).__name__)"
    ),
    "LayerList/raises beyond": "nn.LayerList([nn.ReLU()])[3]",
    "LayerDict": (
        "d = nn.LayerDict({'a': nn.ReLU()})\nd['b'] = nn.Tanh()\nd.update([('c', nn.GELU())])\n"
        "p = d.pop('a')\n(len(d), list(d.keys()), 'b' in d, type(p).__name__)"
    ),
    "ParameterList": (
        "l = nn.ParameterList([paddle.create_parameter([2], 'float32')])\n"
        "l.append(paddle.create_parameter([3], 'float32'))\n"
        "(len(l), [p.shape for p in l], list(l.state_dict()))"
    ),
    "call/keyword": (
        "class A(nn.Layer):\n    def forward(self, x, times=1):\n        return x * times\n"
        "A()(t([2]), times=3)"
    ),
    "shared": ("a = nn.Linear(2, 2)\ns = nn.Sequential(a, a)\n(len(s.parameters()), list(s.state_dict()))"),
    "attribute/deleted": "l = nn.Layer()\nl.a = nn.ReLU()\ndel l.a\nlist(l._sub_layers)",
    "attribute/raises when missing": "nn.Linear(1, 1).wait",
    "attribute/replaced by none": "l = nn.Linear(2, 2)\nl.bias = None\n(l.bias, list(l.state_dict()))",
    "attribute/raises for a tensor": "l = nn.Linear(2, 2)\nl.weight = t([2, 2])\nl",
    "attribute/dictionaries": (
        "l = nn.BatchNorm1D(2)\n(list(l._parameters), list(l._buffers), list(l._sub_layers))"
    ),
    "attribute/tensor": "l = nn.Layer()\nl.a = t([2])\n(list(l._buffers), list(l.state_dict()))",
    "attribute/dir": "'weight' in dir(nn.Linear(1, 1))",
    "deepcopy": (
        "import copy\na = formula(nn.Linear(2, 2))\nb = copy.deepcopy(a)\n"
        "b.weight.set_value(paddle.zeros([2, 2]))\n"
        "(bool((a.weight == 0).any()), b.weight.stop_gradient, list(b.state_dict()))"
    ),
    "raises/forward missing": "nn.Layer()(t([1]))",
    "raises/super not called": (
        "class A(nn.Layer):\n    def __init__(self):\n        self.fc = nn.Linear(1, 1)\nA()"
    ),
    "raises/Linear for a size": "nn.Linear(3, 2)(t([4, 2]))",
    "ParamAttr/name": (
        "nn.Linear(1, 1, weight_attr=paddle.ParamAttr(name='w'), bias_attr='b').state_dict()['bias'].name"
    ),
    "ParamAttr/not trainable": (
        "nn.Linear(1, 1, weight_attr=paddle.ParamAttr(trainable=False)).weight.stop_gradient"
    ),
    "ParamAttr/initializer": "nn.Linear(2, 1, weight_attr=nn.initializer.Constant(3.0)).weight.detach()",
    "parameters_to_vector": "nn.utils.parameters_to_vector(formula(nn.Linear(2, 2)).parameters()).detach()",
    "vector_to_parameters": (
        "l = nn.Linear(2, 2)\nnn.utils.vector_to_parameters(t([6]), l.parameters())\nl.weight.detach()"
    ),
    "weight_norm": (
        "l = nn.utils.weight_norm(formula(nn.Linear(2, 3)))\n"
        "(list(l.state_dict()), l.weight_g.shape, l.weight_v.shape, l(t([1, 2])).detach())"
    ),
    "weight_norm/dim": "nn.utils.weight_norm(formula(nn.Linear(2, 3)), dim=1).weight_g.detach()",
    "weight_norm/removed": (
        "l = nn.utils.remove_weight_norm(nn.utils.weight_norm(formula(nn.Linear(2, 3))))\n"
        "(list(l.state_dict()), l.weight.detach())"
    ),
    "spectral_norm/keys": "list(nn.utils.spectral_norm(nn.Linear(2, 3)).state_dict())",
    "clip_grad_norm_": (
        "l = formula(nn.Linear(2, 2))\nl(t([3, 2])).sum().backward()\n"
        "n = nn.utils.clip_grad_norm_(l.parameters(), 0.5)\n(n, l.weight.grad)"
    ),
    "clip_grad_value_": (
        "l = formula(nn.Linear(2, 2))\nl(t([3, 2])).sum().backward()\n"
        "nn.utils.clip_grad_value_(l.parameters(), 0.1)\nl.weight.grad"
    ),
}
