"""Gradients: backward, grad of any order, hooks, modes, PyLayer, functional derivatives."""

_X = "x = paddle.to_tensor([1.0, -2.0, 3.0], stop_gradient=False)\n"
_Y = "y = paddle.to_tensor([0.5, 4.0, -1.0], stop_gradient=False)\n"
_PYLAYER = (
    "from paddle.autograd import PyLayer\n"
    "class Cube(PyLayer):\n"
    "    @staticmethod\n"
    "    def forward(ctx, x, times=1.0):\n"
    "        ctx.save_for_backward(x)\n"
    "        ctx.times = times\n"
    "        return x * x * x * times\n"
    "    @staticmethod\n"
    "    def backward(ctx, g):\n"
    "        x, = ctx.saved_tensor()\n"
    "        return g * 3.0 * x * x * ctx.times\n"
).replace("from paddle.autograd import PyLayer\n", "PyLayer = paddle.autograd.PyLayer\n")

CALLS: dict[str, str] = {
    "backward": _X + "(x * x).sum().backward()\nx.grad",
    "backward/twice adds": _X + "(x * x).sum().backward()\n(x * 2).sum().backward()\nx.grad",
    "backward/several elements": _X + "(x * x).backward()\nx.grad",
    "backward/grad_tensor": _X + "(x * x).backward(paddle.to_tensor([1.0, 2.0, 3.0]))\nx.grad",
    "backward/retain_graph": _X + "l = (x * x).sum()\nl.backward(retain_graph=True)\nl.backward()\nx.grad",
    "backward/shared": _X + "y = x * 2\n(y * y + y).sum().backward()\nx.grad",
    "backward/diamond": _X + "a = x * 2\nb = x + 1\n(a * b).sum().backward()\nx.grad",
    "backward/0-d": "x = paddle.to_tensor(3.0, stop_gradient=False)\n(x ** 2).backward()\nx.grad",
    "backward/integers ignored": (
        _X + "(x * paddle.to_tensor([1, 2, 3]).astype('float32')).sum().backward()\nx.grad"
    ),
    "backward/detached": _X + "(x * x.detach()).sum().backward()\nx.grad",
    "backward/autograd.backward": _X
    + _Y
    + (
        "paddle.autograd.backward([(x * 2).sum(), (y * x).sum()], [paddle.to_tensor(1.0), None])\n"
        "(x.grad, y.grad)"
    ),
    "backward/gradient method": _X + "(x * x).sum().backward()\nx.gradient()",
    "backward/no grad yet": _X + "x.grad",
    "backward/grad stops": _X + "(x * x).sum().backward()\nx.grad.stop_gradient",
    "backward/raises when freed": _X + "l = (x * x).sum()\nl.backward()\nl.backward()",
    "backward/raises for another shape": _X + "(x * x).backward(paddle.ones([2]))",
    "backward/of no gradient": "x = paddle.to_tensor([1.0])\n(x * x).backward()\nx.grad",
    "clear_grad": _X + "(x * x).sum().backward()\nx.clear_grad()\nx.grad",
    "clear_gradient": _X + "(x * x).sum().backward()\nx.clear_gradient()\nx.grad",
    "clear_gradient/not to zero": _X + "(x * x).sum().backward()\nx.clear_gradient(False)\nx.grad",
    "set grad": _X + "x.grad = paddle.ones([3])\nx.grad",
    "is_leaf": _X + "(x.is_leaf, (x * 2).is_leaf, x.detach().is_leaf, paddle.ones([1]).is_leaf)",
    "retain_grads": _X + "y = x * 2\ny.retain_grads()\n(y * y).sum().backward()\ny.grad",
    "retain_grads/not kept": _X + "y = x * 2\n(y * y).sum().backward()\ny.grad",
    "stop_gradient/of results": (
        _X + "(x.detach().stop_gradient, (x * 2).stop_gradient, (x > 0).stop_gradient)"
    ),
    "stop_gradient/cut": _X + "y = x * 2\ny.stop_gradient = True\n(y * x).sum().backward()\nx.grad",
    "grad": _X + "paddle.grad((x * x).sum(), x)",
    "grad/list": _X + _Y + "paddle.grad([(x * y).sum()], [x, y])",
    "grad/leaves no grad": _X + "paddle.grad((x * x).sum(), x)\nx.grad",
    "grad/outputs": _X + "paddle.grad([x * 2, x * x], [x], [paddle.ones([3]), paddle.full([3], 10.0)])",
    "grad/grad_outputs none": _X + "paddle.grad(x * x, [x], grad_outputs=[None])",
    "grad/second": _X + ("g, = paddle.grad((x ** 3).sum(), x, create_graph=True)\npaddle.grad(g.sum(), x)"),
    "grad/third": _X
    + (
        "g, = paddle.grad((x ** 4).sum(), x, create_graph=True)\n"
        "h, = paddle.grad(g.sum(), x, create_graph=True)\npaddle.grad(h.sum(), x)"
    ),
    "grad/second stop_gradient": _X + "paddle.grad((x ** 3).sum(), x, create_graph=True)[0].stop_gradient",
    "grad/first stop_gradient": _X + "paddle.grad((x ** 3).sum(), x)[0].stop_gradient",
    "grad/second by backward": _X
    + ("g, = paddle.grad((x ** 3).sum(), x, create_graph=True)\n(g * g).sum().backward()\nx.grad"),
    "grad/second of tanh": _X
    + ("g, = paddle.grad(paddle.tanh(x).sum(), x, create_graph=True)\npaddle.grad(g.sum(), x)"),
    "grad/second of matmul": (
        "x = t([2, 3])\nx.stop_gradient = False\nw = t([3, 2], seed=1)\nw.stop_gradient = False\n"
        "g, = paddle.grad(((x @ w) ** 2).sum(), x, create_graph=True)\npaddle.grad((g ** 2).sum(), [x, w])"
    ),
    "grad/penalty": (
        "net = formula(nn.Linear(3, 2))\nx = t([4, 3])\nx.stop_gradient = False\n"
        "g, = paddle.grad(paddle.tanh(net(x)).sum(), x, create_graph=True)\n"
        "((g.norm(2, 1) - 1) ** 2).mean().backward()\n[p.grad for p in net.parameters()]"
    ),
    "grad/intermediate": _X + "y = x * 2\npaddle.grad((y * y).sum(), y)",
    "grad/allow_unused": _X + _Y + "paddle.grad((x * x).sum(), [x, y], allow_unused=True)",
    "grad/no_grad_vars": _X + _Y + "paddle.grad((x * y).sum(), [x], no_grad_vars=[y])",
    "grad/retain_graph": _X
    + ("l = (x * x).sum()\npaddle.grad(l, x, retain_graph=True)\nl.backward()\nx.grad"),
    "grad/raises for unused": _X + _Y + "paddle.grad((x * x).sum(), [x, y])",
    "grad/raises for numbers": _X + "paddle.grad(3.0, x)",
    "no_grad": _X + "with paddle.no_grad():\n    y = x * 2\n(y.stop_gradient, (x * 2).stop_gradient)",
    "no_grad/decorator": _X + "@paddle.no_grad()\ndef f(x):\n    return x * 2\nf(x).stop_gradient",
    "enable_grad": _X
    + ("with paddle.no_grad():\n    with paddle.enable_grad():\n        y = x * 2\ny.stop_gradient"),
    "set_grad_enabled": _X
    + ("with paddle.set_grad_enabled(False):\n    y = x * 2\n(y.stop_gradient, paddle.is_grad_enabled())"),
    "is_grad_enabled": (
        "a = paddle.is_grad_enabled()\nwith paddle.no_grad():\n    b = paddle.is_grad_enabled()\n(a, b)"
    ),
    "hook/leaf": _X + "x.register_hook(lambda g: g * 2)\n(x * x).sum().backward()\nx.grad",
    "hook/two": _X
    + (
        "x.register_hook(lambda g: g * 2)\nx.register_hook(lambda g: g + 1)\n(x * x).sum().backward()\nx.grad"
    ),
    "hook/intermediate": _X + "y = x * 2\ny.register_hook(lambda g: g * 3)\n(y * y).sum().backward()\nx.grad",
    "hook/seen": (
        _X + "seen = []\nx.register_hook(lambda g: seen.append(g))\n(x * x).sum().backward()\n(seen, x.grad)"
    ),
    "hook/removed": _X
    + (
        "h = x.register_hook(lambda g: g * 2)\nremoved = h.remove()\n(x * x).sum().backward()\n"
        "(removed, x.grad)"
    ),
    "hook/used twice": _X
    + ("seen = []\nx.register_hook(lambda g: seen.append(g.tolist()))\n(x * x + x).sum().backward()\nseen"),
    "hook/raises without gradient": "t([2]).register_hook(lambda g: g)",
    "in place/version": "x = t([2])\na = x.inplace_version\nx.add_(paddle.ones([2]))\n(a, x.inplace_version)",
    "in place/gradient": _X + "y = x * 2\ny.add_(paddle.ones([3]))\n(y * y).sum().backward()\nx.grad",
    "in place/raises for a needed value": (
        _X + "y = x * 2\nz = y * y\ny.add_(paddle.ones([3]))\nz.sum().backward()"
    ),
    "in place/raises for a leaf": _X + "x.add_(paddle.ones([3]))",
    "in place/leaf under no_grad": _X + "with paddle.no_grad():\n    x.add_(paddle.ones([3]))\nx",
    "PyLayer": _PYLAYER + _X + "y = Cube.apply(x)\ny.sum().backward()\n(y, x.grad.numpy())",
    "PyLayer/argument": _PYLAYER + _X + "Cube.apply(x, times=2.0).sum().backward()\nx.grad.numpy()",
    "PyLayer/inside": _PYLAYER + _X + "(Cube.apply(x * 2) * x).sum().backward()\nx.grad.numpy()",
    "PyLayer/two": (
        "class Both(paddle.autograd.PyLayer):\n"
        "    @staticmethod\n"
        "    def forward(ctx, x, y):\n"
        "        ctx.save_for_backward(x, y)\n"
        "        return x * y, x + y\n"
        "    @staticmethod\n"
        "    def backward(ctx, g, h):\n"
        "        x, y = ctx.saved_tensor()\n"
        "        return g * y + h, g * x + h\n"
    )
    + _X
    + _Y
    + "a, b = Both.apply(x, y)\n(a * 2 + b).sum().backward()\n(x.grad.numpy(), y.grad.numpy())",
    "PyLayer/none": (
        "class First(paddle.autograd.PyLayer):\n"
        "    @staticmethod\n"
        "    def forward(ctx, x, y):\n"
        "        return x * 1.0\n"
        "    @staticmethod\n"
        "    def backward(ctx, g):\n"
        "        return g * 5.0, None\n"
    )
    + _X
    + _Y
    + "First.apply(x, y).sum().backward()\n(x.grad.numpy(), y.grad)",
    "PyLayer/stopped": _PYLAYER + "y = Cube.apply(t([2]))\ny.stop_gradient",
    "jacobian": _X + "paddle.autograd.jacobian(x * x, x)[:]",
    "hessian": _X + "paddle.autograd.hessian((x * x * x).sum(), x)[:]",
    "incubate/vjp": "paddle.incubate.autograd.vjp(lambda x: x * x, t([3]))",
    "deepcopy/parameter": (
        "import copy\np = formula(nn.Linear(2, 2)).weight\nq = copy.deepcopy(p)\n"
        "(q.stop_gradient, bool((p == q).all()))"
    ),
    "numpy/of gradient": _X + "(x * 2).numpy()",
    "detach/shares": "x = t([2])\ny = x.detach()\ny.zero_()\nx",
    "detach_": _X + "y = x * 2\ny.detach_()\ny.stop_gradient",
}
