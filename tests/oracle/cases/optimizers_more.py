"""Optimizers and schedules: options, states and texts that are used less."""

_NET = "net = formula(nn.Linear(2, 2))\n"
_RUN = (
    "def run(o, steps=3, **options):\n"
    "    for n in range(steps):\n"
    "        (net(t([4, 2], seed=n)) ** 2).sum().backward()\n"
    "        o.step()\n"
    "        o.clear_grad(**options)\n"
    "    return net.weight.detach(), net.bias.detach()\n"
)
_LBFGS = (
    "def closure():\n    o.clear_grad()\n    loss = ((net(x) - y) ** 2).mean()\n"
    "    loss.backward()\n    return loss\n"
)


def _run(make: str, tail: str = "run(o)") -> str:
    return f"{_NET}{_RUN}p = net.parameters()\no = paddle.optimizer.{make}\n{tail}"


def _lbfgs(options: str, tail: str = "[float(o.step(closure)) for _ in range(3)]") -> str:
    start = f"{_NET}x, y = t([5, 2]), t([5, 2], seed=1)\n"
    return f"{start}o = paddle.optimizer.LBFGS({options}parameters=net.parameters())\n{_LBFGS}{tail}"


def _said(make: str, steps: int = 3) -> str:
    return (
        "import io, contextlib\ns = io.StringIO()\nwith contextlib.redirect_stdout(s):\n"
        f"    l = paddle.optimizer.lr.{make}\n    for n in range({steps}):\n        l.step()\ns.getvalue()"
    )


def _state(make: str, steps: int = 3) -> str:
    start = f"l = paddle.optimizer.lr.{make}\nfor n in range({steps}):\n    l.step()\n"
    return start + "sorted(l.state_dict().items())"


CALLS: dict[str, str] = {
    # -- rules
    "Momentum/rescale": _run("Momentum(0.1, 0.9, p, rescale_grad=0.5, weight_decay=0.1)"),
    "Momentum/nesterov and rescale": _run("Momentum(0.1, 0.8, p, use_nesterov=True, rescale_grad=0.25)"),
    "Adagrad/epsilon": _run("Adagrad(0.1, 1e-2, p, initial_accumulator_value=0.5)"),
    "RMSProp/all": _run("RMSProp(0.01, 0.9, 1e-3, 0.5, True, p)"),
    "Adadelta/epsilon": _run("Adadelta(0.5, 1e-3, 0.8, p)"),
    "Adamax/betas": _run("Adamax(0.05, 0.5, 0.9, 1e-3, p)"),
    "Lamb/zero decay": _run("Lamb(0.05, 0.0, parameters=p)"),
    "Lamb/always adapt": _run("Lamb(0.05, 0.0, parameters=p, always_adapt=True)"),
    "Lamb/excluded": (
        _run("Lamb(0.05, 0.1, parameters=p, exclude_from_weight_decay_fn=lambda q: 'b_' in q.name)")
    ),
    "Adam/multi tensor": _run("Adam(0.05, parameters=p, use_multi_tensor=True)"),
    "groups/rates and decay": _run(
        "Momentum(0.1, parameters=[{'params': [p[0]], 'learning_rate': 0.5, 'weight_decay': 0.1}, "
        "{'params': [p[1]], 'learning_rate': 2.0}])"
    ),
    "groups/betas": _run(
        "Adam(0.1, parameters=[{'params': [p[0]], 'beta1': 0.5}, {'params': [p[1]], 'beta2': 0.9}])"
    ),
    "groups/L1": _run(
        "SGD(0.1, parameters=[{'params': [p[0]], 'weight_decay': paddle.regularizer.L1Decay(0.1)}, "
        "{'params': [p[1]]}], weight_decay=0.5)"
    ),
    "groups/clips": _run(
        "SGD(0.1, parameters=[{'params': [p[0]], 'grad_clip': nn.ClipGradByNorm(0.1)}, {'params': [p[1]]}])"
    ),
    "clear_grad/kept graph": _run("SGD(0.1, p)", "run(o, set_to_zero=False)"),
    "float16/multi precision": (
        "net = nn.Linear(2, 2)\nnet.weight.set_value(t([2, 2]))\nnet.to(dtype='float16')\n"
        "o = paddle.optimizer.Adam(0.1, parameters=net.parameters(), multi_precision=True)\n"
        "net.weight.grad = t([2, 2], 'float16', 3)\nstr(net.weight.dtype)"
    ),
    "step/raises for frozen all": "net = nn.Linear(1, 1)\npaddle.optimizer.SGD(0.1, parameters=net)",
    # -- LBFGS
    "LBFGS": _lbfgs(""),
    "LBFGS/line search": _lbfgs("line_search_fn='strong_wolfe', "),
    "LBFGS/rate": _lbfgs("learning_rate=0.5, max_iter=4, "),
    "LBFGS/history": _lbfgs("max_iter=8, history_size=2, line_search_fn='strong_wolfe', "),
    "LBFGS/counts": _lbfgs(
        "max_iter=5, ", "o.step(closure)\ns = o.state_dict()['state']\n(s['func_evals'], s['n_iter'])"
    ),
    "LBFGS/counts of a line search": _lbfgs(
        "max_iter=5, line_search_fn='strong_wolfe', ",
        "o.step(closure)\ns = o.state_dict()['state']\n(s['func_evals'], s['n_iter'])",
    ),
    "LBFGS/evaluations": (
        _lbfgs("max_iter=20, max_eval=3, ", "o.step(closure)\no.state_dict()['state']['func_evals']")
    ),
    "LBFGS/raises for minimize": _lbfgs("", "o.minimize(closure())"),
    # -- states
    "state/names": (
        _run("Adam(0.1, parameters=p)", "run(o)\nsorted(k for k in o.state_dict() if k != 'master_weights')")
    ),
    "state/with a name": _run("Momentum(0.1, parameters=p, name='own')", "run(o)\nsorted(o.state_dict())"),
    "state/schedule": _run(
        "SGD(paddle.optimizer.lr.StepDecay(0.1, 2), p)", "run(o)\no._learning_rate.step()\no.state_dict()"
    ),
    "state/again": _run(
        "Adam(0.1, parameters=p)",
        "run(o)\nwith paddle.utils.unique_name.guard():\n    q = paddle.optimizer.Adam(0.1, parameters=p)\n"
        "    q.set_state_dict(o.state_dict())\n    r = run(q)\nr",
    ),
    "state/empty": _run("Adagrad(0.1, parameters=p)", "sorted(o.state_dict())"),
    # -- texts and states of schedules
    "verbose/StepDecay": _said("StepDecay(0.5, 2, verbose=True)"),
    "verbose/NoamDecay": _said("NoamDecay(16, 4, verbose=True)"),
    "verbose/LinearWarmup": _said("LinearWarmup(0.5, 4, 0.0, 0.5, verbose=True)"),
    "verbose/CosineAnnealingDecay": _said("CosineAnnealingDecay(0.5, 4, verbose=True)"),
    "verbose/CosineAnnealingWarmRestarts": _said("CosineAnnealingWarmRestarts(0.5, 2, verbose=True)"),
    "verbose/OneCycleLR": _said("OneCycleLR(0.5, 10, verbose=True)"),
    "verbose/ReduceOnPlateau": (
        "import io, contextlib\ns = io.StringIO()\nwith contextlib.redirect_stdout(s):\n"
        "    l = paddle.optimizer.lr.ReduceOnPlateau(0.5, patience=0, verbose=True)\n"
        "    for v in (1.0, 1.0, 2.0):\n        l.step(v)\ns.getvalue()"
    ),
    "state of/NoamDecay": _state("NoamDecay(16, 4)"),
    "state of/ReduceOnPlateau": (
        "l = paddle.optimizer.lr.ReduceOnPlateau(0.5, patience=1)\nfor v in (1.0, 1.0, 2.0):\n    l.step(v)\n"
        "sorted(l.state_dict().items())"
    ),
    "state of/OneCycleLR": _state("OneCycleLR(0.5, 10)"),
    "state of/CyclicLR": _state("CyclicLR(0.1, 0.5, 2)"),
    "state of/LambdaDecay": _state("LambdaDecay(0.5, lambda n: 0.9 ** n)"),
    "state of/MultiStepDecay": _state("MultiStepDecay(0.5, [1, 3])"),
    "state of/LinearWarmup of a schedule": (
        _state("LinearWarmup(paddle.optimizer.lr.StepDecay(0.5, 2), 2, 0.0, 0.5)", 4)
    ),
    "restarts/multiplied": (
        "l = paddle.optimizer.lr.CosineAnnealingWarmRestarts(1.0, 2, 2, 0.1)\nr = []\n"
        "for n in range(10):\n    r.append(l())\n    l.step()\nr"
    ),
    "restarts/fractions": (
        "l = paddle.optimizer.lr.CosineAnnealingWarmRestarts(1.0, 2, 2)\nr = []\n"
        "for n in range(12):\n    l.step(n / 2)\n    r.append((l(), l.last_epoch))\nr"
    ),
    "OneCycleLR/raises beyond": (
        "l = paddle.optimizer.lr.OneCycleLR(0.5, 3)\nfor n in range(5):\n    l.step()\nl()"
    ),
    "OneCycleLR/raises for a phase": (
        "paddle.optimizer.lr.OneCycleLR(0.5, 10, phase_pct=0.6, three_phase=True)"
    ),
    "CyclicLR/iterations": (
        "l = paddle.optimizer.lr.CyclicLR(0.1, 0.5, 2, 3, scale_fn=lambda n: 0.9 ** n, "
        "scale_mode='iterations')\n"
        "r = []\nfor n in range(8):\n    r.append(l())\n    l.step()\nr"
    ),
    "CyclicLR/raises for a step": "paddle.optimizer.lr.CyclicLR(0.1, 0.5, 2.5)",
    "loaded/CosineAnnealingDecay": (
        "l = paddle.optimizer.lr.CosineAnnealingDecay(0.5, 10)\nfor n in range(4):\n    l.step()\n"
        "m = paddle.optimizer.lr.CosineAnnealingDecay(0.5, 10)\nm.set_state_dict(l.state_dict())\n"
        "m.step()\nl.step()\n"
        "(l(), m(), m.last_epoch)"
    ),
    "loaded/LinearWarmup": (
        "def made():\n"
        "    return paddle.optimizer.lr.LinearWarmup(paddle.optimizer.lr.StepDecay(0.5, 2), 2, 0.0, "
        "0.5)\n"
        "l = made()\nfor n in range(4):\n    l.step()\nm = made()\nm.set_state_dict(l.state_dict())\n"
        "m.step()\nl.step()\n"
        "(l(), m())"
    ),
}
# Paddle computes the line search, and keeps the powers of the betas, in float32.
TOLERANCES = {name: 1e-3 for name in CALLS if name.startswith(("LBFGS", "state/again"))}
