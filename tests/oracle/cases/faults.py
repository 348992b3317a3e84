"""Faults of Paddle 2.6.2 that are not copied; ``tests/engine/test_not_copied.py`` has our answers."""

_M = "m = paddle.arange(12.0).reshape([3, 4])\n"
_BN = (
    "layer = nn.BatchNorm1D(4, weight_attr={}, bias_attr={})\n" + _M + "(layer(m * m) * m).sum().backward()\n"
    "[layer.weight if layer.weight is None else layer.weight.grad, "
    "layer.bias if layer.bias is None else layer.bias.grad]"
)

CALLS: dict[str, str] = {
    "instance_norm/NLC": "F.instance_norm(t([2, 5, 3]), data_format='NLC')",
    **{f"trace/{offset} of axes 1, 0": _M + f"paddle.trace(m, {offset}, 1, 0)" for offset in (1, -1)},
    "trace/1 of axes 2, 0": "paddle.trace(t([2, 3, 4]), 1, 2, 0)",
    "kthvalue/program keepdim": (
        "program(lambda x: paddle.kthvalue(x, 2, keepdim=True), x=np.arange(12.0).reshape(3, 4))"
    ),
    "fill_diagonal_tensor/gradient": _M + "y = paddle.ones([3])\ny.stop_gradient = False\n"
    "(paddle.Tensor.fill_diagonal_tensor(m * 1, y) * m).sum().backward()\ny.grad",
    "BatchNorm1D/gradient without bias": _BN.format("None", "False"),
    "BatchNorm1D/gradient without weight": _BN.format("False", "None"),
    "pinv/singular": "a = np.outer([1, 2, 3], [1, 2, 3]).astype('float32')\n"
    "paddle.linalg.pinv(paddle.to_tensor(a), hermitian=True)",
    "bincount/gradient of weights": "w = paddle.to_tensor([0.5, 1.5, 2.5], stop_gradient=False)\n"
    "paddle.bincount(paddle.to_tensor([0, 1, 1]), w).stop_gradient",
    "cross_entropy/program with an ignored label": (
        "program(lambda x, y: F.cross_entropy(x, y), x=np.arange(12, dtype='float32').reshape(3, 4), "
        "y=np.array([0, -100, 2]))"
    ),
    "slice/end before start raises": _M + "paddle.slice(m, [0], [2], [1])",
    "getitem/end before start raises": _M + "m[2:1]",
}
