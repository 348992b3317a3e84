"""Gradients that are held, cleared, retained and hooked, and what Paddle accepts where there is none."""

_P = "p = paddle.to_tensor([1.0, 2.0], stop_gradient=False)\n"
_A = "a = paddle.to_tensor([1.0, -2.0], stop_gradient=False)\nb = a * 2\n"
_M = "a = paddle.ones([2, 2])\na.stop_gradient = False\nb = a * 2\n"
_BACK = "(b * 3).sum().backward()\n(b.grad.detach(), a.grad.detach())"


def _steps(optimizer: str, set_to_zero: bool) -> str:
    """Two steps; the loss of the second does not depend on q."""
    return (
        "def made():\n"
        "    init = nn.initializer.Assign(np.array([1.0, 2.0], 'float32'))\n"
        "    return paddle.create_parameter([2], 'float32', default_initializer=init)\n"
        "p, q = made(), made()\n"
        f"opt = paddle.optimizer.{optimizer}(learning_rate=0.1, parameters=[p, q])\n"
        f"(p * q).sum().backward()\nopt.step()\nopt.clear_grad({set_to_zero})\n"
        "(p * p).sum().backward()\nopt.step()\n"
        "(p.detach(), q.detach(), None if q.grad is None else q.grad.detach())"
    )


CALLS: dict[str, str] = {
    # -- what is held of a gradient
    "held/accumulates": _P
    + "(p * p).sum().backward()\ng = p.grad\n(p * p).sum().backward()\n(g.tolist(), p.grad.tolist())",
    "held/is cleared": _P
    + "(p * p).sum().backward()\ng = p.grad\np.clear_grad()\n(g.tolist(), p.grad.tolist())",
    "held/stays behind after clearing": _P
    + "(p * p).sum().backward()\ng = p.grad\np.clear_gradient()\n(p * 3).sum().backward()\n"
    "(g.tolist(), p.grad.tolist())",
    "held/two leaves": "a = paddle.ones([2])\na.stop_gradient = False\nb = paddle.ones([2])\n"
    "b.stop_gradient = False\n(a + b).sum().backward()\ng = a.grad\n(a * 3).sum().backward()\n"
    "(g.tolist(), b.grad.tolist())",
    "held/set": _P + "q = paddle.to_tensor([5.0, 5.0])\np.grad = q\ng = p.grad\n(p * p).sum().backward()\n"
    "(q.tolist(), g.tolist(), p.grad.tolist())",
    "held/written": _P + "(p * p).sum().backward()\np.grad.set_value(np.array([9.0, 9.0], 'float32'))\n"
    "(p * p).sum().backward()\np.grad.tolist()",
    "held/set without gradient": "a = paddle.ones([2])\na.grad = paddle.ones([2])\na.grad.tolist()",
    # -- a parameter that the loss no longer depends on
    **{
        f"cleared/{optimizer} {'zero' if zero else 'dropped'}": _steps(optimizer, zero)
        for optimizer in ("SGD", "Momentum", "Adam", "AdamW", "RMSProp")
        for zero in (True, False)
    },
    # -- retained gradients
    "retained/relu_": _A + f"b.retain_grads()\nb = F.relu_(b)\n{_BACK}",
    "retained/exp_": _A + f"b.retain_grads()\nb.exp_()\n{_BACK}",
    "retained/scale_": _M + f"b.retain_grads()\nb.scale_(4.0)\n{_BACK}",
    "retained/fill_diagonal_": _M + f"b.retain_grads()\nb.fill_diagonal_(5.0)\n{_BACK}",
    "retained/setitem": _M + f"b.retain_grads()\nb[0] = 4.0\n{_BACK}",
    "retained/reshape_": _M + f"b.retain_grads()\nb.reshape_([4])\n{_BACK}",
    "retained/after": _M + f"b.scale_(4.0)\nb.retain_grads()\n{_BACK}",
    "retained/before and after": _M + f"b.retain_grads()\nb.scale_(4.0)\nb.retain_grads()\n{_BACK}",
    "retained/last backward": _A + "b.retain_grads()\nc = b.sum()\nc.backward(retain_graph=True)\n"
    "c.backward()\n(b.grad.tolist(), a.grad.tolist())",
    "retained/cleared": _A + "b.retain_grads()\n(b * 3).sum().backward()\ng = b.grad\nb.clear_grad()\n"
    "(g.tolist(), b.grad.tolist())",
    "retained/before a hook": _A + f"b.retain_grads()\nb.register_hook(lambda g: g * 10)\n{_BACK}",
    "retained/after a hook": _A + f"b.register_hook(lambda g: g * 10)\nb.retain_grads()\n{_BACK}",
    "retained/grad()": _A + "b.retain_grads()\n(paddle.grad((b * 3).sum(), b)[0].tolist(), b.grad.tolist())",
    "hook/scale_": _M + "b.register_hook(lambda g: g * 10)\nb.scale_(4.0)\n(b * 3).sum().backward()\n"
    "a.grad.tolist()",
    # -- where there is no gradient
    "none/retain_grads": "a = paddle.ones([2])\n(a.retain_grads(), a.grad)",
    "none/backward": "a = paddle.ones([2])\n(a.backward(), a.grad)",
    "none/backward of two": _P + "a = paddle.ones([2])\npaddle.autograd.backward([a, p * 2])\n"
    "(a.grad, p.grad.tolist())",
    "none/grad of": _P + "paddle.grad(paddle.ones([2]), p, allow_unused=True)",
    "none/grad by": _P + "a = paddle.ones([2])\npaddle.grad(p * a, a, allow_unused=True)",
    "none/raises register_hook": "paddle.ones([2]).register_hook(lambda g: g)",
    # -- whole numbers
    "whole/to_tensor": "a = paddle.to_tensor([1, 2], stop_gradient=False)\n"
    "(a.stop_gradient, a.is_leaf, a.grad)",
    "whole/flows": "a = paddle.ones([2], 'int64')\na.stop_gradient = False\nb = a.astype('float32') * 2\n"
    "b.sum().backward()\n(b.stop_gradient, a.grad.detach())",
    "whole/multiplied": "a = paddle.to_tensor([1, 2], stop_gradient=False)\nb = a * 2\nb.sum().backward()\n"
    "(b.stop_gradient, a.grad.detach())",
    "whole/bool": "a = paddle.to_tensor([True, False], stop_gradient=False)\n"
    "(a.stop_gradient, (a.astype('float32') * 2).stop_gradient)",
    "whole/indices": "a = paddle.to_tensor([1, 0], stop_gradient=False)\n"
    "x = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)\ny = paddle.gather(x, a) * 2\n"
    "y.sum().backward()\n(a.grad, x.grad.detach())",
    "whole/labels": "a = paddle.to_tensor([1, 0], stop_gradient=False)\n"
    "x = paddle.to_tensor([[1.0, 2.0], [3.0, 5.0]], stop_gradient=False)\nF.cross_entropy(x, a).backward()\n"
    "(a.grad, x.grad.detach())",
    "whole/embedding": "a = paddle.to_tensor([1, 0, 1], stop_gradient=False)\n"
    "w = paddle.to_tensor([[1.0, 2.0], [3.0, 5.0]], stop_gradient=False)\n"
    "F.embedding(a, w).sum().backward()\n"
    "(a.grad, w.grad.detach())",
    # -- numpy
    "numpy/blocking": "x = paddle.ones([2])\n(x.numpy(False).tolist(), x.numpy(blocking=True).tolist())",
    # -- what a script catches
    "caught/raises load": "paddle.load('no/such/file.pdparams')",
    "caught/raises jit.load": "paddle.jit.load('no/such/file')",
    "caught/LinearWarmup": "try:\n    paddle.optimizer.lr.LinearWarmup(0.1, 0, 0.0, 0.1)\n"
    "except AssertionError:\n    seen = 'AssertionError'\nseen",
    "caught/load ValueError": "try:\n    paddle.load('no/such/file.pdparams')\n"
    "except ValueError:\n    seen = 'ValueError'\nseen",
    "caught/jit.load ValueError": "try:\n    paddle.jit.load('no/such/file')\n"
    "except ValueError:\n    seen = 'ValueError'\nseen",
    "caught/maxout ValueError": "try:\n    F.maxout(paddle.ones([1, 2, 2, 2]), 1)\n"
    "except ValueError:\n    seen = 'ValueError'\nseen",
}
