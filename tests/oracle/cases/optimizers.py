"""Three steps of every optimizer: the parameters after them, with decay, clipping, groups and schedules."""

_OPTIMIZERS = {
    "SGD": "paddle.optimizer.SGD(0.1, {})",
    "SGD/decay": "paddle.optimizer.SGD(0.1, {}, weight_decay=0.1)",
    "SGD/L1 decay": "paddle.optimizer.SGD(0.1, {}, weight_decay=paddle.regularizer.L1Decay(0.1))",
    "SGD/L2 decay": "paddle.optimizer.SGD(0.1, {}, weight_decay=paddle.regularizer.L2Decay(0.1))",
    "SGD/clip by value": "paddle.optimizer.SGD(0.1, {}, grad_clip=nn.ClipGradByValue(0.05))",
    "SGD/clip between": "paddle.optimizer.SGD(0.1, {}, grad_clip=nn.ClipGradByValue(0.05, -0.01))",
    "SGD/clip by norm": "paddle.optimizer.SGD(0.1, {}, grad_clip=nn.ClipGradByNorm(0.1))",
    "SGD/clip by global norm": "paddle.optimizer.SGD(0.1, {}, grad_clip=nn.ClipGradByGlobalNorm(0.1))",
    "SGD/clip not needed": "paddle.optimizer.SGD(0.1, {}, grad_clip=nn.ClipGradByGlobalNorm(100.0))",
    "SGD/decay and clip": (
        "paddle.optimizer.SGD(0.1, {}, weight_decay=0.1, grad_clip=nn.ClipGradByGlobalNorm(0.1))"
    ),
    "Momentum": "paddle.optimizer.Momentum(0.1, 0.9, {})",
    "Momentum/nesterov": "paddle.optimizer.Momentum(0.1, 0.9, {}, use_nesterov=True)",
    "Momentum/decay": "paddle.optimizer.Momentum(0.1, 0.9, {}, weight_decay=0.1)",
    "Momentum/L1 decay": (
        "paddle.optimizer.Momentum(0.1, 0.9, {}, weight_decay=paddle.regularizer.L1Decay(0.1))"
    ),
    "Momentum/decay and clip": (
        "paddle.optimizer.Momentum(0.1, 0.9, {}, weight_decay=0.1, grad_clip=nn.ClipGradByNorm(0.1))"
    ),
    "Adagrad": "paddle.optimizer.Adagrad(0.1, parameters={})",
    "Adagrad/start": "paddle.optimizer.Adagrad(0.1, parameters={}, initial_accumulator_value=0.5)",
    "Adagrad/decay": "paddle.optimizer.Adagrad(0.1, parameters={}, weight_decay=0.1)",
    "RMSProp": "paddle.optimizer.RMSProp(0.1, parameters={})",
    "RMSProp/momentum": "paddle.optimizer.RMSProp(0.1, rho=0.9, momentum=0.8, parameters={})",
    "RMSProp/centered": "paddle.optimizer.RMSProp(0.1, centered=True, epsilon=1e-4, parameters={})",
    "RMSProp/decay": "paddle.optimizer.RMSProp(0.1, parameters={}, weight_decay=0.1)",
    "Adadelta": "paddle.optimizer.Adadelta(0.5, parameters={})",
    "Adadelta/rho": "paddle.optimizer.Adadelta(0.5, rho=0.8, epsilon=1e-4, parameters={}, weight_decay=0.1)",
    "Adam": "paddle.optimizer.Adam(0.1, parameters={})",
    "Adam/betas": "paddle.optimizer.Adam(0.1, beta1=0.8, beta2=0.9, epsilon=1e-4, parameters={})",
    "Adam/decay": "paddle.optimizer.Adam(0.1, parameters={}, weight_decay=0.1)",
    "Adam/clip": "paddle.optimizer.Adam(0.1, parameters={}, grad_clip=nn.ClipGradByGlobalNorm(0.1))",
    "Adam/multi precision": "paddle.optimizer.Adam(0.1, parameters={}, multi_precision=True)",
    "Adam/lazy": "paddle.optimizer.Adam(0.1, parameters={}, lazy_mode=True)",
    "AdamW": "paddle.optimizer.AdamW(0.1, parameters={})",
    "AdamW/decay": "paddle.optimizer.AdamW(0.1, parameters={}, weight_decay=0.3)",
    "AdamW/some decay": (
        "paddle.optimizer.AdamW(0.1, parameters={}, weight_decay=0.3, "
        "apply_decay_param_fun=lambda name: name.endswith('w_0'))"
    ),
    "AdamW/clip": "paddle.optimizer.AdamW(0.1, parameters={}, grad_clip=nn.ClipGradByNorm(0.1))",
    "Adamax": "paddle.optimizer.Adamax(0.1, parameters={})",
    "Adamax/decay": "paddle.optimizer.Adamax(0.1, 0.8, 0.9, parameters={}, weight_decay=0.1)",
    "Lamb": "paddle.optimizer.Lamb(0.1, parameters={})",
    "Lamb/decay": "paddle.optimizer.Lamb(0.1, lamb_weight_decay=0.2, parameters={})",
    "Lamb/exclude": (
        "paddle.optimizer.Lamb(0.1, 0.2, parameters={}, "
        "exclude_from_weight_decay_fn=lambda p: len(p.shape) == 1)"
    ),
    "schedule": "paddle.optimizer.SGD(paddle.optimizer.lr.ExponentialDecay(0.1, 0.5), {})",
    "schedule of Adam": "paddle.optimizer.Adam(paddle.optimizer.lr.StepDecay(0.1, 1, 0.5), parameters={})"
}
_NET = (
    "net = formula(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)))\n"
    "x, y = t([5, 3]), t([5, 2], seed=9)\n"
)
_STEPS = (
    "for step in range(3):\n"
    "    loss = F.mse_loss(net(x), y)\n"
    "    loss.backward()\n"
    "    o.step()\n"
    "    o.clear_grad()\n"
    "    if not isinstance(o._learning_rate, float):\n"
    "        o._learning_rate.step()\n"
)
_SHOW = "[p.detach() for p in net.parameters()]"
_GROUPS = (
    "[{'params': net[0].parameters(), 'learning_rate': 0.5, 'weight_decay': 0.2}, "
    "{'params': net[2].parameters()}]"
)


def _trained(
    optimizer: str, parameters: str = "net.parameters()", first: str = _NET, show: str = _SHOW
) -> str:
    return f"{first}o = {optimizer.replace('{}', parameters)}\n{_STEPS}{show}"


_NAMES = "sorted((k, list(v.shape) if hasattr(v, 'shape') else v) for k, v in o.state_dict().items())"
_FROZEN = _NET + "net[0].weight.stop_gradient = True\n"
_ATTRS = (
    "a = paddle.ParamAttr(learning_rate=0.1, regularizer=paddle.regularizer.L2Decay(0.5))\n"
    "net = formula(nn.Sequential(nn.Linear(3, 4, weight_attr=a), nn.Tanh(), nn.Linear(4, 2)))\n"
    "x, y = t([5, 3]), t([5, 2], seed=9)\n"
)
_UNCLIPPED = _NET + "net[0].weight.need_clip = False\n"

CALLS: dict[str, str] = {
    **{f"three steps/{name}": _trained(code) for name, code in _OPTIMIZERS.items()},
    **{
        f"groups/{name}": _trained(_OPTIMIZERS[name], _GROUPS)
        for name in ("SGD", "Momentum", "Adam", "AdamW", "Adagrad", "RMSProp", "SGD/clip by global norm")
    },
    **{
        f"state_dict/{name}": _trained(_OPTIMIZERS[name], show=_NAMES)
        for name in (
            "SGD",
            "Momentum",
            "Adam",
            "AdamW",
            "Adagrad",
            "RMSProp",
            "Adadelta",
            "Adamax",
            "Lamb",
            "schedule",
        )
    },
    "frozen": _trained(_OPTIMIZERS["Adam"], first=_FROZEN),
    "ParamAttr/SGD": _trained(_OPTIMIZERS["SGD/decay"], first=_ATTRS),
    "ParamAttr/Adam": _trained(_OPTIMIZERS["Adam"], first=_ATTRS),
    "ParamAttr/AdamW": _trained(_OPTIMIZERS["AdamW"], first=_ATTRS),
    "need_clip": _trained(_OPTIMIZERS["SGD/clip by global norm"], first=_UNCLIPPED),
    "minimize": (
        f"{_NET}o = paddle.optimizer.SGD(0.1, net.parameters())\n"
        "loss = F.mse_loss(net(x), y)\nloss.backward()\no.minimize(loss)\n" + _SHOW
    ),
    "minimize/result": (
        f"{_NET}o = paddle.optimizer.SGD(0.1, net.parameters())\n"
        "loss = F.mse_loss(net(x), y)\nloss.backward()\nops, pairs = o.minimize(loss)\n"
        "[(p.name, list(g.shape)) for p, g in pairs]"
    ),
    "get_lr": "paddle.optimizer.SGD(0.25, nn.Linear(1, 1).parameters()).get_lr()",
    "set_lr": "o = paddle.optimizer.SGD(0.25, nn.Linear(1, 1).parameters())\no.set_lr(0.5)\no.get_lr()",
    "set_lr/raises for a schedule": (
        "o = paddle.optimizer.SGD(paddle.optimizer.lr.StepDecay(0.1, 1), nn.Linear(1, 1).parameters())\n"
        "o.set_lr(0.5)"
    ),
    "set_lr_scheduler": (
        "o = paddle.optimizer.SGD(0.25, nn.Linear(1, 1).parameters())\n"
        "o.set_lr_scheduler(paddle.optimizer.lr.StepDecay(0.1, 1))\no.get_lr()"
    ),
    "no gradients": _NET + "o = paddle.optimizer.Adam(parameters=net.parameters())\no.step()\n" + _SHOW,
    "accumulated": (
        f"{_NET}o = paddle.optimizer.SGD(0.1, net.parameters())\n"
        "for step in range(2):\n    F.mse_loss(net(x), y).backward()\no.step()\n" + _SHOW
    ),
    "clear_grad": (
        f"{_NET}o = paddle.optimizer.SGD(0.1, net.parameters())\nF.mse_loss(net(x), y).backward()\n"
        "o.clear_grad()\n[float(p.grad.abs().sum()) for p in net.parameters()]"
    ),
    "clear_grad/to none": (
        f"{_NET}o = paddle.optimizer.SGD(0.1, net.parameters())\nF.mse_loss(net(x), y).backward()\n"
        "o.clear_grad(set_to_zero=False)\n[p.grad is None for p in net.parameters()]"
    ),
    "resumed": (
        f"{_NET}o = paddle.optimizer.Adam(0.1, parameters=net.parameters())\n"
        "def copied(state):\n"
        "    return {k: paddle.to_tensor(v.numpy()) for k, v in state.items() if paddle.is_tensor(v)}\n"
        "def two():\n    for step in range(2):\n"
        "        F.mse_loss(net(x), y).backward()\n        o.step()\n        o.clear_grad()\n"
        "two()\nkept = copied(net.state_dict()), copied(o.state_dict())\ntwo()\n"
        "net.set_state_dict(kept[0])\no.set_state_dict(kept[1])\ntwo()\n" + _SHOW
    ),
    "raises/no parameters": "paddle.optimizer.SGD(0.1)",
    "raises/parameters of no list": "paddle.optimizer.SGD(0.1, parameters=nn.Linear(1, 1).weight)",
    "raises/learning rate of text": "paddle.optimizer.SGD('0.1', parameters=nn.Linear(1, 1).parameters())",
    "raises/clip of a number": "paddle.optimizer.SGD(0.1, nn.Linear(1, 1).parameters(), grad_clip=1.0)",
    "raises/beta": "paddle.optimizer.Adam(beta1=1.5, parameters=nn.Linear(1, 1).parameters())",
    "raises/momentum": "paddle.optimizer.Momentum(0.1, None, nn.Linear(1, 1).parameters())",
    "clip/by value": "nn.ClipGradByValue(0.3)([(t([3]), t([3], seed=1))])[0][1]",
    "clip/by norm": "nn.ClipGradByNorm(0.3)([(t([3]), t([3], seed=1))])[0][1]",
    "clip/by global norm": (
        "c = nn.ClipGradByGlobalNorm(0.3)\n"
        "[g for p, g in c([(t([3]), t([3], seed=1)), (t([2]), t([2], seed=2))])]"
    ),
    "clip/text": (
        "(str(nn.ClipGradByValue(0.3)), str(nn.ClipGradByNorm(1.0)), str(nn.ClipGradByGlobalNorm(2.0)))"
    ),
}
# Adam and its kin divide a gradient by its own size: where it is small, rounding shows.
TOLERANCES = {name: 1e-4 for name in CALLS if "Ada" in name or "Lamb" in name or name == "resumed"}
