"""What tests/differential/layers found: layers in eager mode, converted, saved and loaded."""

_TAKEN = (
    "def taken(out, *tensors):\n    out.sum().backward()\n"
    "    return [out.detach(), *[x.grad for x in tensors]]\n"
)
_LEAVES = "x, y = t([3, 4]), pos([3, 4], seed=1) * 0.8\nx.stop_gradient = y.stop_gradient = False\n"
_LOADED = (
    "import tempfile\n"
    "def loaded(layer, *shapes):\n"
    "    spec = [paddle.static.InputSpec(shape, 'float32') for shape in shapes]\n"
    "    with tempfile.TemporaryDirectory() as folder:\n"
    "        paddle.jit.save(layer, folder + '/net', input_spec=spec)\n"
    "        return paddle.jit.load(folder + '/net')\n"
)
_GRU = (
    "l = formula(nn.GRU(3, 4, direction='bidirect'))\nx = t([2, 5, 3])\nx.stop_gradient = False\n"
    "out, _ = l(x, t([2, 2, 4], seed=1), sequence_length=paddle.to_tensor([3, 5]))\n"
    "weighted(out).backward()\n(out.detach(), x.grad)"
)


def _one(layer: str, given: str, then: str = "") -> str:
    return (
        f"l = formula({layer})\nx = {given}\nx.stop_gradient = False\nout = {then}(l(x))\n"
        f"weighted(out).backward()\n"
        "(out.detach(), x.grad, l.weight.grad, l.bias.grad, l._mean, l._variance)"
    )


CALLS: dict[str, str] = {
    # A channel of one element has no statistics.
    "BatchNorm1D/one element": _one("nn.BatchNorm1D(3)", "t([1, 3])"),
    "BatchNorm2D/one element": _one("nn.BatchNorm2D(3)", "t([1, 3, 1, 1])"),
    "BatchNorm2D/one element last": _one("nn.BatchNorm2D(3, data_format='NHWC')", "t([1, 1, 1, 3])"),
    "BatchNorm1D/one element and relu": _one("nn.BatchNorm1D(3)", "t([1, 3])", "F.relu"),
    "BatchNorm1D/one element and many channels": _one("nn.BatchNorm1D(1200)", "t([1, 1200])"),
    "BatchNorm1D/one element in evaluation": "l = nn.BatchNorm1D(3)\nl.eval()\nl(t([1, 3])).detach()",
    "BatchNorm1D/one element converted": (
        "l = paddle.jit.to_static(formula(nn.BatchNorm1D(3)))\nx = t([1, 3])\nx.stop_gradient = False\n"
        "out = l(x)\nweighted(out).backward()\n(out.detach(), x.grad, l._mean, l._variance)"
    ),
    # Gradients of labels.
    "MultiLabelSoftMarginLoss/label": f"{_TAKEN}{_LEAVES}taken(nn.MultiLabelSoftMarginLoss()(x, y), x, y)",
    "MultiLabelSoftMarginLoss/label and weight": (
        f"{_TAKEN}{_LEAVES}taken(nn.MultiLabelSoftMarginLoss(pos([4], seed=2), 'sum')(x, y), x, y)"
    ),
    "BCELoss/converted": f"{_TAKEN}{_LEAVES}taken(paddle.jit.to_static(nn.BCELoss())(y, pos([3, 4])), y)",
    "BCELoss/converted and label": (
        f"{_TAKEN}{_LEAVES}z = pos([3, 4]) * 0.8\nz.stop_gradient = False\n"
        "taken(paddle.jit.to_static(nn.BCELoss())(y, z), y, z)"
    ),
    "RoIAlign/converted": (
        f"{_TAKEN}x, boxes = t([1, 2, 6, 6]), paddle.to_tensor([[0., 0., 4., 4.]])\n"
        "x.stop_gradient = boxes.stop_gradient = False\n"
        "l = paddle.jit.to_static(paddle.vision.ops.RoIAlign(2))\n"
        "taken(l(x, boxes, paddle.to_tensor([1], 'int32')), x, boxes)"
    ),
    # Vectors of spectral_norm.
    **{
        f"spectral_norm/{name}": (
            f"l = nn.utils.spectral_norm({made})\n"
            "(l.weight_u, l.weight_v, [p.name for p in l.parameters()], l(t([1, 2, 4, 4])).detach())"
        )
        for name, made in {
            "Conv2D": "nn.Conv2D(2, 3, 3)",
            "Conv2DTranspose": "nn.Conv2DTranspose(2, 3, 3, bias_attr=False)",
            "Linear": "nn.Linear(4, 3)",
        }.items()
    },
    # Printed forms and where arguments are checked.
    "astype/printed": "[str(nn.Linear(2, 3).astype('float64')), str(nn.Linear(2, 3).to(dtype='float64'))]",
    "RNNCellBase/printed": (
        "class Cell(nn.RNNCellBase):\n    def __init__(self):\n        super().__init__()\n"
        "        self.inner = nn.Linear(2, 3)\nstr(nn.RNN(Cell()))"
    ),
    "TransformerEncoder/no layers": (
        "l = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 6, 0.0), 0, nn.LayerNorm(4))\n"
        "(str(l), l(t([2, 3, 4])).detach())"
    ),
    "Linear/no weight raises": "nn.Linear(3, 4, weight_attr=False)(t([2, 3]))",
    "GroupNorm/groups": "str(nn.GroupNorm(3, 4))",
    "GroupNorm/groups raises": "nn.GroupNorm(3, 4)(t([2, 4, 3]))",
    "SmoothL1Loss/reduction": "str(nn.SmoothL1Loss('max'))",
    "SmoothL1Loss/reduction raises": "nn.SmoothL1Loss('max')(t([2]), t([2]))",
    "NLLLoss/rank raises": "nn.NLLLoss()(t([3]), ints([3], 3))",
    # Saved and loaded.
    "load/names": (
        f"{_LOADED}l = loaded(nn.Linear(2, 3, weight_attr='w', "
        f"bias_attr=paddle.ParamAttr(name='b_7')), [2, 2])\n"
        "sorted(p.name for p in l.parameters())"
    ),
    "load/names in order": (
        f"{_LOADED}l = loaded(nn.utils.weight_norm(nn.Conv2D(2, 3, 3, bias_attr=False), "
        f"dim=1), [1, 2, 4, 4])\n"
        "sorted([p.name, p.shape] for p in l.parameters())"
    ),
    "load/GLU of unknown size": f"{_LOADED}loaded(nn.GLU(axis=0), [None, 3])(t([4, 3]))",
    **{
        f"load/LocalResponseNorm {form}": (
            f"{_LOADED}loaded(nn.LocalResponseNorm(3, data_format='{form}'), [None, "
            f"*{shape}[1:]])(t({shape}))"
        )
        for form, shape in {"NCHW": [2, 4, 3, 2], "NHWC": [2, 3, 2, 4], "NCDHW": [1, 4, 2, 2, 2]}.items()
    },
    # Faults of Paddle, see deviations_layers.py.
    "load/training": (
        f"{_LOADED}l = loaded(nn.Linear(2, 3), [2, 2])\nl.train()\nx = t([2, 2])\nx.stop_gradient = False\n"
        "l(x).sum().backward()\n[x.grad is None, *[p.grad is None for p in l.parameters()]]"
    ),
    "to_static/evaluation": (
        "l = nn.Linear(2, 3)\nl.eval()\nx = t([2, 2])\nx.stop_gradient = False\n"
        "paddle.jit.to_static(l)(x).sum().backward()\nx.grad is None"
    ),
    "to_static/Identity": (
        "x = t([2, 2])\nx.stop_gradient = False\npaddle.jit.to_static(nn.Identity())(x).sum().backward()\n"
        "x.grad"
    ),
    "load/Dropout of an axis": f"{_LOADED}loaded(nn.Dropout(0.5, axis=1), [3, 4])(t([3, 4]))",
    "load/AlphaDropout": f"{_LOADED}loaded(nn.AlphaDropout(0.5), [3, 4])(t([3, 4]))",
    "BCEWithLogitsLoss/pos_weight": (
        f"{_TAKEN}{_LEAVES}y.stop_gradient = True\n"
        f"taken(nn.BCEWithLogitsLoss(pos_weight=pos([4], seed=3))(x, y), x)"
    ),
    "GRU/both directions with lengths": _GRU,
    "LSTM/both directions with lengths": (
        "l = formula(nn.LSTM(3, 4, direction='bidirect'))\n"
        "out, _ = l(t([2, 5, 3]), (t([2, 2, 4], seed=1), t([2, 2, 4], seed=2)), paddle.to_tensor([3, 5]))\n"
        "weighted(out).backward()\n(out.detach(), [p.grad for p in l.parameters()])"
    ),
}
