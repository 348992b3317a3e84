"""Derivatives of functions (incubate.autograd): what they give, and their own gradients."""

_X = "x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)\nA = paddle.incubate.autograd\n"
_CUBE = "lambda x: x * x * x"
_FED = "x=np.array([1.0, 2.0], 'float32')"
_LEAF = "def free(x):\n    x.stop_gradient = False\n    return x\nA = paddle.incubate.autograd\n"

CALLS: dict[str, str] = {
    "jvp/gradient": _X + "A.jvp(lambda x: x * x, x)[1].sum().backward()\nx.grad",
    "vjp/gradient": _X + f"A.vjp({_CUBE}, x)[1].sum().backward()\nx.grad",
    "vjp/gradient of the result": _X + f"A.vjp({_CUBE}, x)[0].sum().backward()\nx.grad",
    "Jacobian/gradient": _X + f"A.Jacobian({_CUBE}, x)[:].sum().backward()\nx.grad",
    "Jacobian/gradient of two": _X
    + "y = paddle.to_tensor([3.0, 4.0], stop_gradient=False)\n"
    + "A.Jacobian(lambda x, y: x * x * x * y, [x, y])[:].sum().backward()\n[x.grad, y.grad]",
    "Hessian/gradient": _X + "A.Hessian(lambda x: (x ** 4).sum(), x)[:].sum().backward()\nx.grad",
    "Hessian/gradient batched": "A = paddle.incubate.autograd\n"
    "x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]], stop_gradient=False)\n"
    "A.Hessian(lambda x: (x * x * x).sum(1, keepdim=True), x, is_batched=True)[:].sum().backward()\nx.grad",
    "jvp/gradient of what x comes from": _X + f"A.jvp({_CUBE}, x * 2)[1].sum().backward()\nx.grad",
    **{
        f"{name}/gradient of v": _X
        + "v = paddle.to_tensor([1.0, 3.0], stop_gradient=False)\n"
        + f"A.{name}({_CUBE}, x, v)[1].sum().backward()\n[x.grad, v.grad]"
        for name in ("jvp", "vjp")
    },
    "jvp/gradient of a weight": _X
    + "w = paddle.to_tensor(3.0, stop_gradient=False)\n"
    + "A.jvp(lambda x: x * x * w, x)[1].sum().backward()\n[x.grad, w.grad]",
    "jvp/stop_gradient": "x = paddle.to_tensor([1.0, 2.0])\n"
    "[*paddle.incubate.autograd.jvp(lambda x: x * x, x), x.grad, x.stop_gradient]",
    "vjp/list": _X + f"A.vjp({_CUBE}, [x])",
    "vjp/tuple": _X + "A.vjp(lambda x, y: x * y, (x, x + 1))",
    "vjp/unused": _X + "A.vjp(lambda x, y: x * x, [x, x + 1])",
    "jvp/unused": _X + "A.jvp(lambda x, y: x * x, [x, x + 1])",
    "jvp/list of one result": _X + "A.jvp(lambda x: [x * x * x], x)",
    "jvp/tuple of one result": _X + "A.jvp(lambda x: (x * x * x,), (x,))",
    "jvp/several results": _X + "A.jvp(lambda x: [x * x * x, x * 2], [x])",
    "jvp/identity": _X + "A.jvp(lambda x: x, x)",
    "jvp/constant": _X + "A.jvp(lambda x: paddle.to_tensor([1.0, 2.0]), x)[1]",
    "vjp/constant": _X + "A.vjp(lambda x: paddle.to_tensor([1.0, 2.0]), x)[1]",
    "Jacobian/constant": _X + "A.Jacobian(lambda x: paddle.to_tensor([1.0, 2.0]), x)[:]",
    "vjp/x itself": _X + "A.vjp(lambda x: [x * x * x, x], x)[1]",
    "vjp/raises v": _X + "A.vjp(lambda x: x * x, x, [x, x])",
    "vjp/raises shape of v": _X + "A.vjp(lambda x: x * x, x, x[:1])",
    "jvp/raises v": _X + "A.jvp(lambda x: x * x, x, [x, x])",
    "jvp/raises number": _X + "A.jvp(lambda x: x * x, x, 5)",
    "program/vjp": _LEAF + f"program(lambda x: A.vjp({_CUBE}, free(x))[1], {_FED})",
    "program/jvp": _LEAF + f"program(lambda x: A.jvp({_CUBE}, free(x))[1], {_FED})",
    "program/gradient of jvp": _LEAF
    + f"program(lambda x: paddle.static.gradients(A.jvp({_CUBE}, free(x))[1], x), {_FED})",
    "program/Jacobian": _LEAF + f"program(lambda x: A.Jacobian({_CUBE}, free(x))[:], {_FED})",
    "program/gradient of Jacobian": _LEAF
    + f"program(lambda x: paddle.static.gradients(A.Jacobian({_CUBE}, free(x))[:], x), {_FED})",
    "program/Hessian": _LEAF
    + f"program(lambda x: A.Hessian(lambda x: (x * x * x).sum(), free(x))[:], {_FED})",
}
