"""Saving and loading nested values."""

_THERE = "import os, tempfile\nfolder = tempfile.mkdtemp()\npath = os.path.join(folder, 'kept.pdparams')\n"


def _kept(value: str, options: str = "") -> str:
    return f"{_THERE}paddle.save({value}, path)\npaddle.load(path{options})"


CALLS: dict[str, str] = {
    "tensor": _kept("t([2, 3])"),
    "tensor/as numpy": _kept("t([2, 3])", ", return_numpy=True"),
    "tensor/int64": _kept("ints([3], 9)"),
    "tensor/float16": _kept("t([3], 'float16')"),
    "tensor/bool": _kept("bools([3])"),
    "tensor/0-d": _kept("paddle.to_tensor(2.5)"),
    "tensor/empty": _kept("paddle.zeros([0, 2])"),
    "state dict": _kept("formula(nn.Linear(2, 3)).state_dict()"),
    "state dict/as numpy": _kept("formula(nn.Linear(2, 3)).state_dict()", ", return_numpy=True"),
    "dict of dicts": _kept("{'net': {'w': t([2])}, 'epoch': 3, 'rate': 0.5, 'name': 'a', 'done': False}"),
    "list": _kept("[t([2]), 3, 'text', None, [1.5, t([1])]]"),
    "tuple": _kept("(t([2]), {'a': (1, 2)})"),
    "number": _kept("7"),
    "text": _kept("'some text'"),
    "array": _kept("np.arange(6).reshape(2, 3)"),
    "dict with array": _kept("{'a': np.arange(3), 'b': t([1])}"),
    "empty dict": _kept("{}"),
    "int keys": _kept("{1: t([2]), 2: 'b'}"),
    "schedule": _kept("paddle.optimizer.lr.StepDecay(0.5, 2).state_dict()"),
    "optimizer": (
        f"{_THERE}net = formula(nn.Linear(2, 2))\n"
        "o = paddle.optimizer.Adam(0.1, parameters=net.parameters())\n"
        "net(t([3, 2])).sum().backward()\no.step()\npaddle.save(o.state_dict(), path)\n"
        "sorted((k, v) for k, v in paddle.load(path).items() if k != 'master_weights')"
    ),
    "into a layer": (
        f"{_THERE}paddle.save(formula(nn.Linear(2, 3)).state_dict(), path)\n"
        "net = nn.Linear(2, 3)\nreport = net.set_state_dict(paddle.load(path))\n(report, net.weight.detach())"
    ),
    "stop_gradient": _kept("paddle.to_tensor([1.0], stop_gradient=False)"),
    "folders are made": (
        f"{_THERE}deep = os.path.join(folder, 'a', 'b', 'c.pdparams')\npaddle.save(t([2]), deep)\n"
        "paddle.load(deep)"
    ),
    "raises/no such file": f"{_THERE}paddle.load(path)",
    "raises/a folder": f"{_THERE}paddle.save(t([2]), folder + '/')",
}
TOLERANCES = {"optimizer": 1e-4}  # Paddle's moments carry 1 - beta in float32
