"""Arguments that Paddle takes in more forms than its documents say."""

_X = "x = paddle.to_tensor([1.5, 0.0, 3.0])\n"
_P = "p = F.log_softmax(paddle.to_tensor([[1.0, 2.0], [3.0, 5.0]]))\np.stop_gradient = False\n"
_Y = "y = paddle.to_tensor([[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]])\n"

CALLS: dict[str, str] = {
    **{
        f"{call}/{name}": _X + code.format(dtype)
        for call, code in (
            ("astype", "x.astype({})"),
            ("cast", "paddle.cast(x, {})"),
            ("zeros", "paddle.zeros([2], dtype={})"),
            ("full", "paddle.full([2], 1, dtype={})"),
        )
        for name, dtype in {
            "'int'": "'int'",
            "'float'": "'float'",
            "'complex'": "'complex'",
            "'long'": "'long'",
            "'double'": "'double'",
            "'half'": "'half'",
            "int": "int",
            "float": "float",
            "bool": "bool",
            "complex": "complex",
            "np.int32": "np.int32",
            "np.float64": "np.float64",
        }.items()
    },
    "astype/raises": _X + "x.astype('number')",
    # -- labels
    "nll_loss/column": _P + "F.nll_loss(p, paddle.to_tensor([[0], [1]]))",
    "nll_loss/column, none": _P + "F.nll_loss(p, paddle.to_tensor([[0], [1]]), reduction='none')",
    "nll_loss/column, weight": _P
    + "F.nll_loss(p, paddle.to_tensor([[0], [1]]), weight=paddle.to_tensor([0.5, 2.0]))",
    "nll_loss/column, gradient": _P
    + "F.nll_loss(p, paddle.to_tensor([[0], [1]])).backward()\np.grad.detach()",
    # -- values with more dimensions than their place
    "setitem/one": "y = paddle.to_tensor([1, 2, 3])\ny[1] = paddle.to_tensor([7])\ny",
    "setitem/row": _Y + "y[1] = paddle.to_tensor([[7.0, 8.0, 9.0]])\ny",
    "setitem/two dimensions": _Y + "y[1, 2] = paddle.to_tensor([[7.0]])\ny",
    "setitem/array": _Y + "y[1, 2] = np.array([7.0], 'float32')\ny",
    "setitem/slice": _Y + "y[:, 1] = paddle.to_tensor([[7.0, 8.0]])\ny",
    "setitem/tensor as index": _Y + "y[paddle.to_tensor(1)] = paddle.to_tensor([[7.0, 8.0, 9.0]])\ny",
    "setitem/gradient": _Y + "v = paddle.to_tensor([7.0], stop_gradient=False)\ny[1, 0] = v\n"
    "(y * y).sum().backward()\nv.grad.detach()",
    "setitem/gradient of a row": _Y + "v = paddle.to_tensor([[7.0]], stop_gradient=False)\ny[1] = v\n"
    "(y * y).sum().backward()\nv.grad.detach()",
    "setitem/raises": _Y + "y[1, 2] = paddle.to_tensor([7.0, 8.0])\ny",
    # -- names of linalg at the top
    "top/cholesky": "paddle.cholesky(paddle.to_tensor([[4.0, 2.0], [2.0, 3.0]]))",
    "top/eigvalsh": "paddle.eigvalsh(paddle.to_tensor([[4.0, 2.0], [2.0, 3.0]]))",
}
