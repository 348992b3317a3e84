"""Normalizations: batch, layer, group, instance, local response, spectral; normalize; gradients, layers."""

_BATCH = {1: [4, 3, 5], 2: [2, 3, 4, 2], 3: [2, 3, 2, 2, 3]}
_FIRST = {1: "NCL", 2: "NCHW", 3: "NCDHW"}
_LAST = {1: "NLC", 2: "NHWC", 3: "NDHWC"}

CALLS: dict[str, str] = {}
for _rank, _shape in _BATCH.items():
    _x = f"t({_shape})"
    _moved = f"t({[_shape[0], *_shape[2:], 3]})"
    _cls = f"BatchNorm{_rank}D"
    CALLS |= {
        _cls: f"layer = formula(nn.{_cls}(3))\nlayer({_x})",
        f"{_cls}/statistics": f"layer = nn.{_cls}(3, momentum=0.8)\nlayer({_x})\nlayer({_x} * 2)\n"
        "[layer._mean, layer._variance]",
        f"{_cls}/eval": f"layer = formula(nn.{_cls}(3))\nlayer({_x})\nlayer.eval()\nlayer({_x})",
        f"{_cls}/global": f"layer = formula(nn.{_cls}(3, use_global_stats=True))\nlayer({_x})",
        f"{_cls}/not global": f"layer = nn.{_cls}(3, use_global_stats=False)\nlayer.eval()\nlayer({_x})",
        f"{_cls}/last": f"formula(nn.{_cls}(3, data_format='{_LAST[_rank]}'))({_moved})",
        f"{_cls}/plain": f"nn.{_cls}(3, weight_attr=False, bias_attr=False)({_x})",
        f"{_cls}/gradients": f"layer = formula(nn.{_cls}(3))\nx = {_x}\nx.stop_gradient = False\n"
        "weighted(layer(x)).backward()\n[x.grad, layer.weight.grad, layer.bias.grad]",
        f"{_cls}/gradients in eval": f"layer = formula(nn.{_cls}(3))\nlayer.eval()\nx = {_x}\n"
        "x.stop_gradient = False\nweighted(layer(x)).backward()\n[x.grad, layer.weight.grad, "
        "layer.bias.grad]",
        f"{_cls}/state": f"layer = nn.{_cls}(3, name='bn')\n[list(layer.state_dict()), layer._mean.name, "
        "layer._variance.name, [p.name for p in layer.parameters()], [p.stop_gradient for p in "
        "layer.parameters()]]",
        f"{_cls}/text": f"str([nn.{_cls}(3), nn.{_cls}(3, 0.5, 1e-3, data_format='{_LAST[_rank]}', "
        "name='b')])",
        f"{_cls}/raises for rank": f"nn.{_cls}(3)(t([2, 3, 2, 2, 2, 2]))",
        f"{_cls}/raises for channels": f"nn.{_cls}(4)({_x})",
        f"{_cls}/raises for a format": f"nn.{_cls}(3, data_format='CN')({_x})",
        f"SyncBatchNorm/from {_cls}": f"layer = nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential("
        f"nn.{_cls}(3), nn.ReLU()))\n[type(layer[0]).__name__, list(layer.state_dict())]",
    }
    _cls = f"InstanceNorm{_rank}D"
    CALLS |= {
        _cls: f"formula(nn.{_cls}(3))({_x})",
        f"{_cls}/plain": f"nn.{_cls}(3, weight_attr=False, bias_attr=False)({_x})",
        f"{_cls}/gradients": f"layer = formula(nn.{_cls}(3))\nx = {_x}\nx.stop_gradient = False\n"
        "weighted(layer(x)).backward()\n[x.grad, layer.scale.grad, layer.bias.grad]",
        f"{_cls}/text": f"str(nn.{_cls}(3, epsilon=1e-3))",
        f"{_cls}/names": f"[p.name for p in nn.{_cls}(3).parameters()]",
        f"{_cls}/raises for rank": f"nn.{_cls}(3)(t([2, 3, 2, 2, 2, 2]))",
        f"{_cls}/raises for one attribute": f"nn.{_cls}(3, weight_attr=False)",
        f"instance_norm/{_rank}": f"F.instance_norm({_x})",
        f"instance_norm/{_rank} affine": f"F.instance_norm({_x}, weight=t([3], seed=1), bias=t([3], seed=2), "
        "eps=1e-3)",
    }
CALLS |= {
    "BatchNorm1D/matrix": "formula(nn.BatchNorm1D(3))(t([4, 3]))",
    "BatchNorm": "layer = formula(nn.BatchNorm(3))\nlayer(t([2, 3, 4]))",
    "BatchNorm/act": "layer = formula(nn.BatchNorm(3, act='relu'))\nlayer(t([2, 3, 4]))",
    "BatchNorm/last": "layer = formula(nn.BatchNorm(3, data_layout='NHWC'))\nlayer(t([2, 4, 3]))",
    "BatchNorm/eval": "layer = formula(nn.BatchNorm(3))\nlayer.eval()\nlayer(t([2, 3, 4]))",
    "BatchNorm/global": "layer = formula(nn.BatchNorm(3, use_global_stats=True))\nlayer(t([2, 3, 4]))",
    "BatchNorm/trainable statistics": "layer = nn.BatchNorm(3, trainable_statistics=True)\nlayer.eval()\n"
    "[layer(t([2, 3, 4])), layer._mean]",
    "BatchNorm/is_test": "layer = nn.BatchNorm(3, is_test=True)\n[layer(t([2, 3, 4])), layer._mean]",
    "SyncBatchNorm/text": "str(nn.SyncBatchNorm(3))",
    "SyncBatchNorm/frozen": "layer = nn.SyncBatchNorm(3, weight_attr=False, bias_attr=False)\n"
    "[layer.weight.stop_gradient, layer.bias.stop_gradient, layer.weight]",
    "batch_norm/training": "m, v = paddle.zeros([3]), paddle.ones([3])\n"
    "y = F.batch_norm(t([2, 3, 4]), m, v, t([3], seed=1), t([3], seed=2), training=True, momentum=0.7)\n[y, "
    "m, v]",
    "batch_norm/eval": "F.batch_norm(t([2, 3, 4]), t([3]), pos([3]), t([3], seed=1), t([3], seed=2))",
    "batch_norm/second order": (
        "x = t([4, 3], 'float64')\nx.stop_gradient = False\n"
        "y = F.batch_norm(x, paddle.zeros([3], 'float64'), paddle.ones([3], 'float64'), pos([3], 'float64'), "
        "t([3], 'float64', seed=2), training=True)\n"
        "g = paddle.grad((y ** 3).sum(), x, create_graph=True)[0]\n"
        "paddle.grad((g * t([4, 3], 'float64', seed=3)).sum(), x)"
    ),
    "layer_norm": "F.layer_norm(t([2, 3, 4]), 4)",
    "layer_norm/two dimensions": "F.layer_norm(t([2, 3, 4]), [3, 4], t([12], seed=1), t([12], seed=2))",
    "layer_norm/epsilon": "F.layer_norm(t([2, 3]), [3], epsilon=1e-3)",
    "layer_norm/gradients": "grad(lambda x, w, b: F.layer_norm(x, [4], w, b), t([2, 3, 4]), t([4], seed=1), "
    "t([4], seed=2))",
    "layer_norm/raises for shape": "F.layer_norm(t([2, 3, 4]), [5])",
    "layer_norm/raises for rank": "F.layer_norm(t([4]), [3, 4])",
    "LayerNorm": "formula(nn.LayerNorm([3, 4]))(t([2, 3, 4]))",
    "LayerNorm/number": "formula(nn.LayerNorm(4))(t([2, 3, 4]))",
    "LayerNorm/plain": "nn.LayerNorm(4, weight_attr=False, bias_attr=False)(t([2, 3, 4]))",
    "LayerNorm/only bias": "formula(nn.LayerNorm(4, weight_attr=False))(t([2, 3, 4]))",
    "LayerNorm/text": "str([nn.LayerNorm(4), nn.LayerNorm([3, 4], 1e-3)])",
    "GroupNorm": "formula(nn.GroupNorm(2, 4))(t([2, 4, 3, 2]))",
    "GroupNorm/one group": "formula(nn.GroupNorm(1, 4))(t([2, 4, 3]))",
    "GroupNorm/each channel": "formula(nn.GroupNorm(4, 4))(t([2, 4, 3]))",
    "GroupNorm/matrix": "formula(nn.GroupNorm(2, 4))(t([2, 4]))",
    "GroupNorm/volume": "formula(nn.GroupNorm(2, 4))(t([1, 4, 2, 2, 2]))",
    "GroupNorm/last": "formula(nn.GroupNorm(2, 4, data_format='NHWC'))(t([2, 3, 2, 4]))",
    "GroupNorm/plain": "nn.GroupNorm(2, 4, weight_attr=False, bias_attr=False)(t([2, 4, 3, 2]))",
    "GroupNorm/gradients": "layer = formula(nn.GroupNorm(2, 4))\nx = t([2, 4, 3, 2])\nx.stop_gradient = "
    "False\nweighted(layer(x)).backward()\n[x.grad, layer.weight.grad, layer.bias.grad]",
    "GroupNorm/gradients last": "layer = formula(nn.GroupNorm(2, 4, data_format='NHWC'))\nx = t([2, 3, 2, "
    "4])\nx.stop_gradient = False\nweighted(layer(x)).backward()\n[x.grad, layer.weight.grad, "
    "layer.bias.grad]",
    "GroupNorm/frozen": "layer = nn.GroupNorm(2, 4, weight_attr=False, bias_attr=False)\n"
    "[layer.weight.stop_gradient, layer.bias.stop_gradient]",
    "GroupNorm/text": "str(nn.GroupNorm(2, 4, epsilon=1e-3))",
    "GroupNorm/raises for a format": "nn.GroupNorm(2, 4, data_format='NCL')",
    "GroupNorm/raises for channels": "nn.GroupNorm(2, 4)(t([2, 5, 3]))",
    "InstanceNorm1D/raises for matrix of a line": "nn.InstanceNorm1D(3)(t([3]))",
    "local_response_norm": "F.local_response_norm(t([2, 5, 3, 2]), 3)",
    "local_response_norm/even": "F.local_response_norm(t([2, 5, 3, 2]), 4, alpha=0.1, beta=0.5, k=2.0)",
    "local_response_norm/line": "F.local_response_norm(t([2, 5, 3]), 3, alpha=0.1, data_format='NCL')",
    "local_response_norm/line last": "F.local_response_norm(t([2, 3, 5]), 3, alpha=0.1, data_format='NLC')",
    "local_response_norm/last": "F.local_response_norm(t([2, 3, 2, 5]), 3, alpha=0.1, data_format='NHWC')",
    "local_response_norm/volume": "F.local_response_norm(t([1, 4, 2, 3, 2]), 3, alpha=0.1, "
    "data_format='NCDHW')",
    "local_response_norm/volume last": "F.local_response_norm(t([1, 2, 3, 2, 4]), 3, alpha=0.1, "
    "data_format='NDHWC')",
    "local_response_norm/gradient": "grad(lambda x: F.local_response_norm(x, 3, alpha=0.5), t([1, 5, 3, 2]))",
    "local_response_norm/raises for rank": "F.local_response_norm(t([2, 5]), 3)",
    "local_response_norm/raises for a format": "F.local_response_norm(t([2, 5, 3]), 3, data_format='NC')",
    "LocalResponseNorm": "nn.LocalResponseNorm(3, alpha=0.1)(t([2, 5, 3, 2]))",
    "LocalResponseNorm/text": "str([nn.LocalResponseNorm(3), nn.LocalResponseNorm(3, data_format='NHWC', "
    "name='l')])",
    "SpectralNorm": "layer = formula(nn.SpectralNorm([3, 4], power_iters=2))\nlayer(t([3, 4]))",
    "SpectralNorm/dim": "layer = formula(nn.SpectralNorm([2, 3, 2], dim=1, power_iters=3))\nlayer(t([2, 3, "
    "2]))",
    "SpectralNorm/again": "layer = formula(nn.SpectralNorm([3, 4]))\nlayer(t([3, 4]))\n[layer(t([3, 4])), "
    "layer.weight_u]",
    "SpectralNorm/gradient": "layer = formula(nn.SpectralNorm([3, 4], power_iters=2))\ngrad(layer, t([3, "
    "4]))",
    "SpectralNorm/names": "layer = nn.SpectralNorm([3, 4])\n[[p.name for p in layer.parameters()], "
    "str(layer), list(layer.state_dict()), layer.weight_u.stop_gradient]",
    "SpectralNorm/raises for dim": "nn.SpectralNorm([3, 4], dim=2)",
    "SpectralNorm/raises for shape": "nn.SpectralNorm([3, 0])",
    "normalize": "F.normalize(t([2, 3]))",
    "normalize/axis": "F.normalize(t([2, 3, 2]), axis=-1)",
    "normalize/p": "F.normalize(t([2, 3]), p=3)",
    "normalize/p of 1": "F.normalize(t([2, 3]), p=1, axis=0)",
    "normalize/line": "F.normalize(t([4]), axis=0)",
    "normalize/zeros": "F.normalize(paddle.zeros([2, 3]))",
    "normalize/epsilon": "F.normalize(t([2, 3]), epsilon=10)",
    "normalize/gradient": "grad(lambda x: F.normalize(x), t([2, 3]))",
    "normalize/raises for axis": "F.normalize(t([4]), axis=1)",
}
