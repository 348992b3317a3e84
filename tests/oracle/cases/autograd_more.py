"""Gradients: PyLayer in all its forms, derivatives of functions, hooks on what is kept."""

_X = "x = paddle.to_tensor([1.0, -2.0, 3.0], stop_gradient=False)\n"
_AB = (
    "a = paddle.to_tensor([1.0, 2.0], stop_gradient=False)\n"
    "b = paddle.to_tensor([3.0, 4.0], stop_gradient=False)\n"
)
_LAYER = (
    "class Own(paddle.autograd.PyLayer):\n"
    "    @staticmethod\n"
    "    def forward(ctx, {forward}\n"
    "    @staticmethod\n"
    "    def backward(ctx, {backward}\n"
)


def _own(forward: str, backward: str, call: str) -> str:
    """A PyLayer and what is done with it; the bodies are lines after the signature's ``ctx, ``."""
    body = _LAYER.format(
        forward=forward.replace("\n", "\n        "), backward=backward.replace("\n", "\n        ")
    )
    return body + call


_TANH = (
    "x):\ny = x.tanh()\nctx.save_for_backward(y)\nreturn y",
    "g):\ny, = ctx.saved_tensor()\nreturn g * (1 - y * y)",
)
_TWO = ("a, b):\nreturn a * b, a + b", "g, h):\nseen.append([g.tolist(), h.tolist()])\nreturn g * 2, h * 3")

CALLS: dict[str, str] = {
    # -- PyLayer
    "PyLayer/saved result": _own(*_TANH, _X + "Own.apply(x).sum().backward()\nx.grad.detach()"),
    "PyLayer/second order": _own(
        *_TANH,
        _X + "g, = paddle.grad(Own.apply(x).sum(), x, create_graph=True)\npaddle.grad(g.sum(), x)",
    ),
    "PyLayer/keyword": _own(
        "x, factor, shift=0.0):\nctx.factor = factor\nreturn x * factor + shift",
        "g):\nreturn g * ctx.factor",
        _X + "y = Own.apply(x, 3, shift=1.0)\ny.sum().backward()\n(y.detach(), x.grad.detach())",
    ),
    "PyLayer/two results": "seen = []\n"
    + _own(
        *_TWO,
        _AB + "y, z = Own.apply(a, b)\n(y.sum() + z.sum()).backward()\n(a.grad.detach(), b.grad.detach())",
    ),
    "PyLayer/one of two used": "seen = []\n"
    + _own(*_TWO, _AB + "y, z = Own.apply(a, b)\ny.sum().backward()\n(seen, a.grad.detach())"),
    "PyLayer/not materialized": "seen = []\n"
    + _own(
        "a):\nctx.set_materialize_grads(False)\nreturn a * 2, a * 3",
        "g, h):\nseen.append(h is None)\nreturn g",
        _AB + "y, z = Own.apply(a)\ny.sum().backward()\nseen",
    ),
    "PyLayer/not differentiable": _own(
        "a):\ny, z = a * 2, a * 3\nctx.mark_non_differentiable(z)\nreturn y, z",
        "g, h):\nreturn g",
        _AB + "y, z = Own.apply(a)\n(y.stop_gradient, z.stop_gradient)",
    ),
    "PyLayer/not in place": _own(
        "a):\nctx.mark_not_inplace(a)\nreturn a",
        "g):\nreturn g * 7",
        _AB + "y = Own.apply(a)\ny.sum().backward()\n(y is a, a.is_leaf, y.detach())",
    ),
    "PyLayer/in place": _own(
        "a):\nreturn a",
        "g):\nreturn g * 7",
        _AB + "y = a * 1\nz = Own.apply(y)\nz.sum().backward()\n(z is y, a.grad.detach())",
    ),
    "PyLayer/raises for a leaf in place": _own("a):\nreturn a", "g):\nreturn g", _AB + "Own.apply(a)"),
    "PyLayer/other values": _own(
        "a):\nreturn a * 2, 5, [a * 3, 'x']",
        "*g):\nreturn g[0]",
        _AB + "y, n, l = Own.apply(a)\n(n, l[1], y.stop_gradient, l[0].stop_gradient)",
    ),
    "PyLayer/no gradient wanted": _own(*_TANH, "Own.apply(t([2])).stop_gradient"),
    "PyLayer/under no_grad": (
        _own(*_TANH, _X + "with paddle.no_grad():\n    y = Own.apply(x)\ny.stop_gradient")
    ),
    "PyLayer/inside": _own(
        "a):\nctx.seen = (paddle.is_grad_enabled(), a.stop_gradient)\nreturn a * 2",
        "g):\nreturn g",
        _AB + "Own.apply(a).grad_fn is not None",
    ),
    "PyLayer/raises for too few": (
        _own("a, b):\nreturn a + b", "g):\nreturn g", _AB + "Own.apply(a, b).sum().backward()")
    ),
    "PyLayer/raises for a number": (
        _own("a):\nreturn a * 2", "g):\nreturn 5", _AB + "Own.apply(a).sum().backward()")
    ),
    "PyLayer/raises for no result": _own("a):\nreturn None", "g):\nreturn g", _AB + "Own.apply(a)"),
    "PyLayer/raises for no forward": ("class Own(paddle.autograd.PyLayer):\n    pass\nOwn.apply(t([2]))"),
    # -- autograd.backward
    "backward/two": (
        _AB + "paddle.autograd.backward([a * 2, b * 3], [paddle.ones([2]), None])\n"
        "(a.grad.detach(), b.grad.detach())"
    ),
    "backward/retain": (
        _AB + "y = a * a\npaddle.autograd.backward(y, retain_graph=True)\ny.backward()\na.grad.detach()"
    ),
    "backward/raises for twice one": _AB + "y = a * a\npaddle.autograd.backward([y, y])",
    "backward/raises for a number": "paddle.autograd.backward(3)",
    "backward/raises for a shape": _AB + "(a * 2).backward(paddle.ones([3]))",
    "grad/raises for an empty list": _AB + "paddle.grad((a * 2).sum(), [])",
    "grad/raises for a number": _AB + "paddle.grad(3, a)",
    "grad/only_inputs": _AB + "paddle.grad((a * 2).sum(), a, only_inputs=True)",
    "grad/raises for only_inputs": _AB + "paddle.grad((a * 2).sum(), a, only_inputs=False)",
    # -- derivatives
    "jacobian/parts": (
        _X + "j = paddle.autograd.jacobian(x * x, x)\n"
        "(j.shape, j[:], j[0], j[0, 1], j[:, 0], j[-1], j[0:2, 1:])"
    ),
    "jacobian/used": _X + "j = paddle.autograd.jacobian(x * x, x)\n(j.numpy(), j + 1, j * j, j == j)",
    "jacobian/of a number": _X + "j = paddle.autograd.jacobian((x ** 3).sum(), x)\n(j.shape, j[:], j[1])",
    "jacobian/tuples": (
        _AB + "j = paddle.autograd.jacobian((a * a, a.sum() * b), (a, b))\n[[m[:] for m in row] for row in j]"
    ),
    "jacobian/batch": (
        "x = t([3, 2])\nx.stop_gradient = False\n"
        "j = paddle.autograd.jacobian(x * x, x, batch_axis=0)\n(j.shape, j[:], j[0], j[:, 1], j[1, 0, 0])"
    ),
    "jacobian/raises for a rank": (
        "x = t([3, 2])\nx.stop_gradient = False\npaddle.autograd.jacobian(x * x, x)[:]"
    ),
    "jacobian/raises for an axis": "x = t([3, 2])\npaddle.autograd.jacobian(x * x, x, batch_axis=1)",
    "jacobian/raises for an ellipsis": _X + "paddle.autograd.jacobian(x * x, x)[...]",
    "jacobian/raises beyond": _X + "paddle.autograd.jacobian(x * x, x)[5]",
    "hessian/parts": (
        _X + "h = paddle.autograd.hessian((x ** 3).sum(), x)\n(h.shape, h[:], h[1], type(h).__name__)"
    ),
    "hessian/tuples": (
        _AB + "h = paddle.autograd.hessian(((a * b) ** 2).sum(), (a, b))\n[[m[:] for m in row] for row in h]"
    ),
    "hessian/batch": (
        "x = t([3, 2])\nx.stop_gradient = False\n"
        "paddle.autograd.hessian((x ** 3).sum(-1), x, batch_axis=0)[:]"
    ),
    "hessian/raises for many": _X + "paddle.autograd.hessian(x * x, x)",
    "vjp/tuple": "paddle.incubate.autograd.vjp(lambda x, y: x * y, (t([3]), t([3], seed=1)))",
    "vjp/vector": "paddle.incubate.autograd.vjp(lambda x: x * x, t([3]), paddle.to_tensor([1.0, 0.0, 2.0]))",
    "vjp/raises for a shape": "paddle.incubate.autograd.vjp(lambda x: x * x, t([3]), paddle.ones([2]))",
    "jvp": "paddle.incubate.autograd.jvp(lambda x: x * x, t([3]), paddle.to_tensor([1.0, 0.0, 2.0]))",
    "jvp/results": "paddle.incubate.autograd.jvp(lambda x: (x * x, x + 1), t([3]))",
    "Jacobian/function": (
        "j = paddle.incubate.autograd.Jacobian(lambda x, y: x * y, [t([2]), t([2], seed=1)])\n"
        "(j.shape, j[:, :])"
    ),
    "Jacobian/function of a matrix": (
        "j = paddle.incubate.autograd.Jacobian(lambda x: x * x, t([2, 2]))\n(j.shape, j[:])"
    ),
    "Hessian/function": (
        "h = paddle.incubate.autograd.Hessian(lambda x: (x ** 3).sum(), t([3]))\n(h.shape, h[:])"
    ),
    # -- hooks on what is kept
    "saved_tensors_hooks": (
        _AB + "log = []\n"
        "def pack(x):\n    log.append(('pack', x.tolist()))\n    return x.numpy()\n"
        "def unpack(x):\n    log.append(('unpack', x.tolist()))\n    return paddle.to_tensor(x)\n"
        "with paddle.autograd.saved_tensors_hooks(pack, unpack):\n    y = paddle.multiply(a, b)\n"
        "y.sum().backward()\n(sorted(log), a.grad.detach())"
    ),
    # -- the tensor's own
    "tensor/inplace_version": (
        _X + "y = x * 1\na = y.inplace_version\ny.add_(paddle.ones([3]))\n(a, y.inplace_version)"
    ),
    "tensor/gradient": _X + "(x * x).sum().backward()\n(x.gradient(), x.grad.stop_gradient, x.grad.is_leaf)",
    "tensor/clear of a result": (
        _X + "y = x * 2\ny.retain_grads()\ny.sum().backward()\ny.clear_gradient()\ny.grad.detach()"
    ),
    "tensor/grad_fn": _X + "(x.grad_fn is None, (x * 2).grad_fn is None)",
    "hook/several removed": (
        _X + "seen = []\nh = x.register_hook(lambda g: seen.append(1))\n"
        "k = x.register_hook(lambda g: seen.append(2))\n"
        "r = (h.remove(), h.remove())\n(x * 2).sum().backward()\n(r, seen)"
    ),
    "no_grad/generator": (
        _X + "@paddle.no_grad()\ndef rows():\n    for n in range(2):\n        yield n\nlist(rows())"
    ),
    "enable_grad/inside": (
        _X + "with paddle.no_grad():\n    with paddle.enable_grad():\n        y = x * 2\n    z = x * 2\n"
        "(y.stop_gradient, z.stop_gradient)"
    ),
    "set_grad_enabled/call": (
        _X + "paddle.set_grad_enabled(False)\ny = x * 2\npaddle.set_grad_enabled(True)\n"
        "(y.stop_gradient, (x * 2).stop_gradient)"
    ),
}
