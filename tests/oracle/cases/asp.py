"""incubate.asp: n of m weights set to 0, and kept so in training."""

_NET = """\
asp = paddle.incubate.asp
asp.reset_excluded_layers()
net = formula(nn.Sequential(nn.Linear({sizes}), nn.Linear(8, 5)))
opt = asp.decorate(paddle.optimizer.Momentum(0.1, parameters=net.parameters()))
"""
_SHOW = "[p.numpy() for p in net.parameters()]"
_MASKS = "[masks[p.name] for p in net.parameters() if p.name in masks]"
_RESULT = {
    **dict.fromkeys(("mask_1d", "mask_2d_greedy"), f"[{_SHOW}, {_MASKS}]"),
    # Sums of these weights are equal now and then; which mask is the best is chance then.
    "mask_2d_best": f"[[float(v.sum()) for v in {_SHOW}], [[list(m.shape), m.sum()] for m in {_MASKS}]]",
}


def _pruned() -> dict[str, str]:
    calls = {}
    for algorithm in ("mask_1d", "mask_2d_greedy", "mask_2d_best"):
        for n, m in {"mask_1d": ((2, 4), (1, 3), (3, 4))}.get(algorithm, ((2, 4), (1, 4))):
            for sizes in ("8, 8", "6, 8"):
                calls[f"prune_model/{algorithm} {n} {m} {sizes}"] = (
                    _NET.format(sizes=sizes)
                    + f"masks = asp.prune_model(net, {n}, {m}, '{algorithm}', {sizes == '8, 8'})\n"
                    + _RESULT[algorithm]
                )
    convolution = (
        "net = formula(nn.Conv2D({}, 4, [3, 2]))\nasp = paddle.incubate.asp\nasp.reset_excluded_layers()\n"
    )
    for channels in (8, 5, 3):
        calls[f"prune_model/convolution {channels}"] = (
            f"{convolution.format(channels)}asp.prune_model(net, with_mask=False)\n{_SHOW}"
        )
    calls["prune_model/excluded"] = (
        _NET.format(sizes="8, 8")
        + f"asp.set_excluded_layers([net[0].weight.name])\nasp.prune_model(net)\nshown = {_SHOW}\n"
        + "asp.reset_excluded_layers()\nshown"
    )
    calls["add_supported_layer"] = (
        "asp = paddle.incubate.asp\nnet = formula(nn.Conv1D(4, 4, 2))\n"
        "asp.add_supported_layer('conv1d', lambda w, m, n, algorithm, name: (w * 0 + m, w * 0 + n))\n"
        f"asp.prune_model(net, with_mask=False)\n{_SHOW}"
    )
    calls["prune_model/raises for another algorithm"] = (
        _NET.format(sizes="8, 8") + "asp.prune_model(net, mask_algo='no')"
    )
    calls["prune_model/raises for no layer"] = "paddle.incubate.asp.prune_model(3)"
    return calls


CALLS: dict[str, str] = {
    **_pruned(),
    "training": (
        _NET.format(sizes="8, 8") + "asp.prune_model(net)\nfor n in range(1):\n"
        "    net(t([4, 8], seed=n)).square().mean().backward()\n    opt.step()\n    opt.clear_grad()\n"
        f"[{_SHOW}, [asp.calculate_density(p.numpy()) for p in net.parameters()]]"
    ),
    "state": (
        _NET.format(sizes="8, 8") + "asp.prune_model(net)\nstate = opt.state_dict()\n"
        "[state[p.name + '.asp_mask'] for p in net.parameters() if p.name + '.asp_mask' in state]"
    ),
    "calculate_density": (
        "arrays = (np.array([0, 1.0, 2]), np.array([[0.0, 0], [1, 0]]))\n"
        "[paddle.incubate.asp.calculate_density(x) for x in arrays]"
    ),
    "names": "sorted(paddle.incubate.asp.__all__)",
    "signatures": "[signature(getattr(paddle.incubate.asp, n)) for n in sorted(paddle.incubate.asp.__all__)]",
}
