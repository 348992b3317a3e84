"""Static graphs: layers as functions that make their parameters, branches and loops: values and gradients."""

from textwrap import indent

_BEGIN = """\
paddle.enable_static()
static = paddle.static
def v(shape, seed=0, dtype='float32'):
    size = int(np.prod(shape))
    return np.round(np.sin(np.arange(size) * 1.7 + seed), 3).reshape(shape).astype(dtype)
def started(main, start):
    exe = static.Executor(paddle.CPUPlace())
    exe.run(start)
    for n, p in enumerate(main.all_parameters()):
        if 'norm' not in p.name:
            static.set_program_state(main, {p.name: v(p.shape, n)})
    return exe
def data(name, shape, dtype='float32'):
    made = static.data(name, shape, dtype)
    made.stop_gradient = dtype != 'float32'
    return made
main, start = static.Program(), static.Program()
"""


def _static(body: str) -> str:
    return (
        f"{_BEGIN}def call():\n{indent(body, '    ')}\n"
        "try:\n    with paddle.utils.unique_name.guard(), static.program_guard(main, start), "
        "static.scope_guard(static.Scope()):\n        found = call()\n"
        "finally:\n    paddle.disable_static()\nfound"
    )


def _layer(made: str, shape: str = "[3, 4]", more: str = "") -> str:
    """What a layer gives, its gradients, and the names and shapes of what it makes."""
    return _static(
        f"x = data('x', {shape})\n{more}out = {made}\n"
        f"weight = paddle.assign(v([int(np.prod(out.shape))], 9).reshape(out.shape))\n"
        "loss = paddle.sum(out * weight)\npairs = static.append_backward(loss)\n"
        "exe = started(main, start)\nmade = [(p.name, list(p.shape)) for p in main.all_parameters()]\n"
        "grads = sorted(g.name for _, g in pairs) + ['x@GRAD']\n"
        f"found = exe.run(main, feed={{'x': v({shape}, 2)}}, fetch_list=[out] + grads)\n"
        "return made, grads, found, out.name, list(out.shape)"
    )


def _words(made: str, more: str = "") -> str:
    return _static(
        f"k = static.data('k', [2, 3], 'int64')\n{more}out = {made}\n"
        "loss = paddle.sum(out * out)\npairs = static.append_backward(loss)\n"
        "exe = started(main, start)\n"
        "found = exe.run(main, feed={'k': np.array([[0, 2, 4], [1, 1, 3]])}, "
        "fetch_list=[out] + [g for _, g in pairs])\n"
        "return [(p.name, list(p.shape)) for p in main.all_parameters()], found"
    )


def _flow(made: str, feeds: str = "({'x': v([3], 1), 'k': [1]}, {'x': v([3], 2), 'k': [4]})") -> str:
    """Values and gradients for several feeds."""
    return _static(
        "x, k = data('x', [3]), static.data('k', [1], 'int64')\n"
        "w = static.create_parameter([3], 'float32', name='w')\n"
        f"{made}\nfound = static.gradients([paddle.sum(out)], [x, w])\nexe = started(main, start)\n"
        "fetch = [out] + [f for f in found if f is not None]\n"
        f"return [f is None for f in found], [exe.run(main, feed={{**f, 'k': np.array(f['k'])}}, "
        f"fetch_list=fetch) for f in {feeds}]"
    )


_IMAGE = "[2, 4, 5, 5]"

CALLS: dict[str, str] = {
    "fc": _layer("static.nn.fc(x, 5)"),
    "fc/activated": _layer("static.nn.fc(x, 5, activation='sigmoid')"),
    "fc/no bias": _layer("static.nn.fc(x, 5, bias_attr=False)"),
    "fc/rows": _layer("static.nn.fc(x, 5, num_flatten_dims=2)", "[2, 3, 4]"),
    "fc/rows from the end": _layer("static.nn.fc(x, 5, num_flatten_dims=-1)", "[2, 3, 4]"),
    "fc/flattened": _layer("static.nn.fc(x, 5)", "[2, 3, 4]"),
    "fc/several": _layer("static.nn.fc([x, y], 5)", more="y = paddle.tanh(x)[:, :2]\n"),
    "fc/raises dims": _layer("static.nn.fc(x, 5, num_flatten_dims=2)"),
    "conv2d": _layer("static.nn.conv2d(x, 3, 3)", _IMAGE),
    "conv2d/padded": _layer("static.nn.conv2d(x, 2, 3, stride=2, padding=1, act='relu')", _IMAGE),
    "conv2d/groups": _layer("static.nn.conv2d(x, 4, [3, 2], groups=2, bias_attr=False)", _IMAGE),
    "conv2d/same": _layer("static.nn.conv2d(x, 2, 3, padding='SAME')", _IMAGE),
    "conv2d/dilated": _layer("static.nn.conv2d(x, 2, 2, dilation=2)", _IMAGE),
    "conv2d/channels last": _layer("static.nn.conv2d(x, 3, 3, data_format='NHWC')", "[2, 5, 5, 4]"),
    "conv2d/raises groups": _layer("static.nn.conv2d(x, 3, 3, groups=3)", _IMAGE),
    "conv2d/raises format": _layer("static.nn.conv2d(x, 3, 3, data_format='HW')", _IMAGE),
    "conv3d": _layer("static.nn.conv3d(x, 2, 2)", "[1, 2, 3, 3, 3]"),
    "conv2d_transpose": _layer("static.nn.conv2d_transpose(x, 3, filter_size=3)", _IMAGE),
    "conv2d_transpose/stride": _layer(
        "static.nn.conv2d_transpose(x, 3, filter_size=2, stride=2, padding=1)", _IMAGE
    ),
    "conv2d_transpose/size": _layer(
        "static.nn.conv2d_transpose(x, 2, output_size=[11, 11], stride=2)", _IMAGE
    ),
    "conv2d_transpose/groups": _layer(
        "static.nn.conv2d_transpose(x, 4, filter_size=3, groups=2, bias_attr=False)", _IMAGE
    ),
    "conv3d_transpose": _layer("static.nn.conv3d_transpose(x, 2, filter_size=2)", "[1, 2, 3, 3, 3]"),
    "batch_norm": _layer("static.nn.batch_norm(x)", _IMAGE),
    "batch_norm/activated": _layer("static.nn.batch_norm(x, act='relu')", _IMAGE),
    "batch_norm/test": _layer("static.nn.batch_norm(x, is_test=True)", _IMAGE),
    "batch_norm/global": _layer("static.nn.batch_norm(x, use_global_stats=True)", _IMAGE),
    "batch_norm/rows": _layer("static.nn.batch_norm(x)"),
    "batch_norm/channels last": _layer("static.nn.batch_norm(x, data_layout='NHWC')", "[2, 5, 5, 4]"),
    "batch_norm/names": _layer(
        "static.nn.batch_norm(x, moving_mean_name='mm', moving_variance_name='mv')", _IMAGE
    ),
    "layer_norm": _layer("static.nn.layer_norm(x)", "[2, 3, 4]"),
    "layer_norm/last": _layer("static.nn.layer_norm(x, begin_norm_axis=2)", "[2, 3, 4]"),
    "layer_norm/plain": _layer("static.nn.layer_norm(x, scale=False, shift=False)", "[2, 3, 4]"),
    "group_norm": _layer("static.nn.group_norm(x, 2)", _IMAGE),
    "group_norm/plain": _layer("static.nn.group_norm(x, 4, param_attr=False, bias_attr=False)", _IMAGE),
    "group_norm/raises groups": _layer("static.nn.group_norm(x, 3)", _IMAGE),
    "instance_norm": _layer("static.nn.instance_norm(x)", _IMAGE),
    "embedding": _words("static.nn.embedding(k, [6, 3])"),
    "embedding/padding": _words("static.nn.embedding(k, [6, 3], padding_idx=1)"),
    "embedding/negative padding": _words("static.nn.embedding(k, [6, 3], padding_idx=-2)"),
    "embedding/raises float": _words("static.nn.embedding(paddle.cast(k, 'float32'), [6, 3])"),
    # -- branches --------------------------------------------------------------------------------------------
    "cond": _flow("out = static.nn.cond(k > 2, lambda: x * w, lambda: x - 1.)"),
    "cond/one uses outer values": _flow(
        "h = paddle.tanh(x)\nout = static.nn.cond(k > 2, lambda: h * h, lambda: w * 3.)"
    ),
    "cond/of two": _flow("a, b = static.nn.cond(k > 2, lambda: (x * w, x + w), lambda: (x, w))\nout = a * b"),
    "cond/nested": _flow(
        "out = static.nn.cond(k > 2, lambda: static.nn.cond(k > 3, lambda: x * w, lambda: x), lambda: w * w)",
        "({'x': v([3], 1), 'k': [1]}, {'x': v([3], 2), 'k': [3]}, {'x': v([3], 3), 'k': [4]})",
    ),
    "cond/dict": _flow(
        "found = static.nn.cond(k > 2, lambda: {'a': x * w, 'b': x}, lambda: {'a': x, 'b': w})\n"
        "out = found['a'] + 2 * found['b']"
    ),
    "cond/python bool": _flow("out = static.nn.cond(paddle.full([], 1) > 0, lambda: x * w, lambda: x)"),
    "cond/nothing returned": _static(
        "k = static.data('k', [1])\nkept = static.create_global_var([1], 1., 'float32', persistable=True)\n"
        "def more():\n    paddle.assign(kept + k, kept)\n"
        "static.nn.cond(k > 0, more, lambda: None)\nexe = static.Executor()\nexe.run(start)\n"
        "return [exe.run(main, feed={'k': np.array([n], 'float32')}, fetch_list=[kept])[0] for n in (1, "
        "-1, 2)]"
    ),
    "cond/raises functions": _flow("out = static.nn.cond(k > 2, 3, lambda: x)"),
    "cond/raises one gives nothing": _flow("out = static.nn.cond(k > 2, lambda: x, lambda: None)"),
    "case": _flow(
        "out = static.nn.case([(k < 2, lambda: x * w), (k < 4, lambda: x)], default=lambda: w * 2.)",
        "({'x': v([3], n), 'k': [n]} for n in (1, 3, 5))",
    ),
    "case/no default": _flow(
        "out = static.nn.case([(k < 2, lambda: x * w), (k < 4, lambda: x - w)])",
        "({'x': v([3], n), 'k': [n]} for n in (1, 3, 5))",
    ),
    "case/raises pairs": _flow("out = static.nn.case(k < 2)"),
    "case/raises no pair": _flow("out = static.nn.case([k < 2])"),
    "switch_case": _flow(
        "out = static.nn.switch_case(k, {1: lambda: x * w, 2: lambda: x}, default=lambda: w * 2.)",
        "({'x': v([3], n), 'k': [n]} for n in (1, 2, 5))",
    ),
    "switch_case/list": _flow(
        "out = static.nn.switch_case(k, [lambda: x * w, lambda: x + w])",
        "({'x': v([3], n), 'k': [n]} for n in (0, 1, 5, -1))",
    ),
    "switch_case/pairs": _flow(
        "out = static.nn.switch_case(k, [(3, lambda: x * w), (1, lambda: x + w)])",
        "({'x': v([3], n), 'k': [n]} for n in (3, 1, 5))",
    ),
    "switch_case/raises twice": _flow(
        "out = static.nn.switch_case(k, [(1, lambda: x * w), (1, lambda: x + w)])"
    ),
    "switch_case/raises index": _flow("out = static.nn.switch_case(x, [lambda: x * w])"),
    # -- loops -----------------------------------------------------------------------------------------------
    "while_loop": _flow(
        "n = paddle.full([1], 0, 'int64')\n"
        "_, out = static.nn.while_loop(lambda n, y: n < k, lambda n, y: (n + 1, y * w), [n, x * 1.])"
    ),
    "while_loop/not once": _flow(
        "n = paddle.full([1], 3, 'int64')\n"
        "_, out = static.nn.while_loop(lambda n, y: n < k, lambda n, y: (n + 1, y * w), [n, x * 1.])"
    ),
    "while_loop/structure": _flow(
        "n = paddle.full([1], 0, 'int64')\n"
        "_, found = static.nn.while_loop(lambda n, s: n < k, "
        "lambda n, s: (n + 1, [s[0] + s[1] * w, s[1] * 0.5]), [n, [x * 1., w * 1.]])\nout = found[0] + "
        "found[1]"
    ),
    "while_loop/a branch inside": _flow(
        "n = paddle.full([1], 0, 'int64')\ndef step(n, y):\n"
        "    return n + 1, static.nn.cond(n % 2 == 0, lambda: y * w, lambda: y + x)\n"
        "_, out = static.nn.while_loop(lambda n, y: n < k, step, [n, x * 1.])"
    ),
    "while_loop/a loop inside": _flow(
        "n = paddle.full([1], 0, 'int64')\ndef inner(y):\n    m = paddle.full([1], 0, 'int64')\n"
        "    return static.nn.while_loop(lambda m, z: m < 2, lambda m, z: (m + 1, z * w), [m, y])[1]\n"
        "_, out = static.nn.while_loop(lambda n, y: n < k, lambda n, y: (n + 1, inner(y) + x), [n, x * 1.])"
    ),
    "while_loop/grows": _static(
        "k = static.data('k', [1], 'int64')\nn, y = paddle.full([1], 0, 'int64'), paddle.ones([1, 2])\n"
        "def step(n, y):\n    return n + 1, y * 2.\n"
        "found = static.nn.while_loop(lambda n, y: n < k, step, [n, y])\nexe = static.Executor()\n"
        "return [exe.run(main, feed={'k': np.array([m])}, fetch_list=found) for m in (0, 3)]"
    ),
    "while_loop/raises not callable": _flow("out = static.nn.while_loop(3, lambda n: n, [x])"),
    "while_loop/raises condition": _flow("out = static.nn.while_loop(lambda y: y, lambda y: y * 2, [x])[0]"),
    "while_loop/raises results": _flow(
        "n = paddle.full([1], 0, 'int64')\n"
        "out = static.nn.while_loop(lambda n, y: n < k, lambda n, y: n + 1, [n, x * 1.])[1]"
    ),
    "Assert": _static(
        "x = static.data('x', [2])\nstatic.nn.control_flow.Assert(paddle.sum(x) > 0, [x])\n"
        "return static.Executor().run(main, feed={'x': np.ones([2], 'float32')}, fetch_list=[x])"
    ),
    "Assert/raises": _static(
        "x = static.data('x', [2])\nstatic.nn.control_flow.Assert(paddle.sum(x) > 0, [x])\n"
        "static.Executor().run(main, feed={'x': np.zeros([2], 'float32')}, fetch_list=[x])"
    ),
}

TOLERANCES = {"conv2d_transpose/size": 1e-4}
