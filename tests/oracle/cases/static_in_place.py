"""Changes in place while a Program is built: forms with a trailing underscore change nothing, others do."""

_RUN = """\
paddle.enable_static()
static = paddle.static
main, start = static.Program(), static.Program()
try:
    with static.program_guard(main, start):
        x = static.data('x', {shape}, 'float32')
        x.stop_gradient = False
        y = x * 2
        z = {change}
        a = y + 1
    exe = static.Executor()
    exe.run(start)
    feed = {{'x': np.array({values}, 'float32')}}
    found = exe.run(main, feed=feed, fetch_list={fetch})
finally:
    paddle.disable_static()
([f.tolist() for f in found], z is y)"""


def _run(
    change: str, fetch: str = "[y, z, a]", shape: str = "[2, 2]", values: str = "[[-1, 2], [3, 4]]"
) -> str:
    return _RUN.format(change=change, fetch=fetch, shape=shape, values=values)


def _one(change: str, fetch: str = "[y, z, a]") -> str:
    return _run(change, fetch, "[1]", "[1]")


_FORMS = {
    "relu_": "F.relu_(y)",
    "elu_": "F.elu_(y)",
    "softmax_": "F.softmax_(y)",
    "tanh_ function": "paddle.tanh_(y)",
    "tanh_ method": "y.tanh_()",
    "exp_": "y.exp_()",
    "add_": "y.add_(y)",
    "scale_": "y.scale_(3.0)",
    "clip_": "y.clip_(0.0, 1.0)",
    "reshape_": "paddle.reshape_(y, [4])",
    "reshape_ method": "y.reshape_([4])",
    "unsqueeze_": "paddle.unsqueeze_(y, 0)",
    "squeeze_": "paddle.squeeze_(y)",
    "transpose_": "paddle.transpose_(y, [1, 0])",
    "t_": "paddle.t_(y)",
    "cumsum_": "paddle.cumsum_(y)",
    "cast_": "paddle.cast_(y, 'int32')",
    "where_": "paddle.where_(y > 0, y, -y)",
    "scatter_": "paddle.scatter_(y, paddle.to_tensor([0]), paddle.ones([1, 2]))",
    "index_add_": "paddle.index_add_(y, paddle.to_tensor([0]), 0, paddle.ones([1, 2]))",
    "masked_fill_": "paddle.masked_fill_(y, y > 0, 1.0)",
    "remainder_": "y.remainder_(paddle.to_tensor(3.0))",
    "static.setitem": "static.setitem(y, 0, 3.0)",
    "static.setitem tensor": "static.setitem(y, (slice(None), 1), paddle.ones([2]))",
}

CALLS: dict[str, str] = {
    **{f"out of place/{name}": _run(change) for name, change in _FORMS.items()},
    "in place/increment": _one("paddle.increment(y)"),
    "in place/increment twice": _one("paddle.increment(paddle.increment(y), 3.0)"),
    "in place/assign": _run("paddle.assign(y * 5, y)"),
    "in place/assign of another": _run("paddle.assign(paddle.ones([2, 2]), y)"),
    "in place/by name": _run("paddle.assign(y * 5, y)", "[y.name]"),
    "in place/in a loop": _one(
        "static.nn.while_loop(lambda i, s: i < 3, lambda i, s: [paddle.increment(i), s + y], "
        "[paddle.zeros([1]), paddle.zeros([1])])[1]"
    ),
    # -- another guard goes on with the Program, and a copy of it
    "in place/another guard": _RUN.replace(
        "        a = y + 1\n", "    with static.program_guard(main, start):\n        a = y + 1\n"
    ).format(change="paddle.increment(y)", shape="[1]", values="[1]", fetch="[y, a]"),
    "in place/clone": _RUN.replace("exe.run(main,", "exe.run(main.clone(for_test=True),").format(
        change="paddle.increment(y)", shape="[1]", values="[1]", fetch="[y, a]"
    ),
    # -- fetch_list
    "fetch_list/nested": _run("y + 2", "[[y], (z, a), 'x']"),
    "fetch_list/a tuple": _run("y + 2", "(z, [a])"),
}
