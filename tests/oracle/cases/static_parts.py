"""Static graphs: averages of parameters, metrics, Python functions, layers made of their parameters."""

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
    static.set_program_state(main, {p.name: v(p.shape, n) for n, p in enumerate(main.all_parameters())})
    return exe
def value(name):
    return np.array(static.global_scope().find_var(name).get_tensor())
def data(name, shape, dtype='float32'):
    made = static.data(name, shape, dtype)
    made.stop_gradient = dtype != 'float32'
    return made
"""


def _static(body: str) -> str:
    return (
        f"{_BEGIN}main, start = static.Program(), static.Program()\ndef call():\n{indent(body, '    ')}\n"
        "try:\n    with paddle.utils.unique_name.guard(), static.program_guard(main, start), "
        "static.scope_guard(static.Scope()):\n        found = call()\n"
        "finally:\n    paddle.disable_static()\nfound"
    )


def _layer(made: str, shape: str = "[2, 4]", more: str = "", feed: str = "") -> str:
    """What a layer gives, its gradient, those of its parameters, and the names of these."""
    return _static(
        f"x = data('x', {shape})\n{more}out = {made}\n"
        "loss = paddle.sum(out * out)\npairs = static.append_backward(loss)\n"
        "dx = static.gradients([loss], [x])\nexe = started(main, start)\n"
        "grads = sorted((p.name, g.name) for p, g in pairs)\n"
        f"feed = {{'x': v({shape}, 2){feed}}}\n"
        "found = exe.run(main, feed=feed, fetch_list=[out] + dx + [g for _, g in grads])\n"
        "return [name for name, _ in grads], found, list(out.shape)"
    )


def _average(make: str, use: str, steps: int = 3) -> str:
    return _static(
        "x = static.data('x', [None, 4])\nhidden = static.nn.fc(x, 2)\nloss = paddle.mean(hidden * hidden)\n"
        "test = main.clone(for_test=True)\npaddle.optimizer.SGD(0.5).minimize(loss)\n"
        f"{make}\nema.update()\nexe = started(main, start)\nname = main.all_parameters()[0].name\n"
        f"for n in range({steps}):\n    exe.run(main, feed={{'x': v([3, 4], n)}}, fetch_list=[loss])\n"
        f"feed = {{'x': v([2, 4], 7)}}\n{use}"
    )


_EMA = "ema = static.ExponentialMovingAverage(0.9)"
_APPLIED = (
    "before = value(name)\nwith ema.apply(exe):\n    within = value(name)\n"
    "    out = exe.run(test, feed=feed, fetch_list=[hidden])\nreturn before, within, out, value(name)"
)
_ACCURACY = "x, label = static.data('x', [None, 4]), static.data('label', [None, 1], 'int64')\n"
_FED = "{'x': v([5, 4]), 'label': np.array([[0], [1], [2], [3], [1]])}"
_AUC = "x, label = static.data('x', [None, 2]), static.data('label', [None, 1], 'int64')\n"


def _auc(options: str, runs: int = 3) -> str:
    return _static(
        f"{_AUC}found, batch, stats = static.auc(x, label{options})\n"
        "exe = static.Executor(paddle.CPUPlace())\nexe.run(start)\nseen = []\n"
        f"for n in range({runs}):\n    p = np.abs(v([8, 1], n))\n"
        "    feed = {'x': np.concatenate([1 - p, p], 1), 'label': (v([8, 1], n + 1) > 0).astype('int64')}\n"
        "    seen.append([float(f) for f in exe.run(main, feed=feed, fetch_list=[found, batch])])\n"
        "return seen, [list(s.shape) for s in stats], list(found.shape)"
    )


_TANH = """\
def tanh(a):
    return np.tanh(np.array(a))
def tanh_grad(y, dy):
    return np.array(dy) * (1 - np.square(np.array(y)))
def tanh_grad_of_all(x, y, dy):
    return np.array(dy) * (1 - np.square(np.array(y))) + 0 * np.array(x)
def made(name, shape, dtype='float32'):
    return static.default_main_program().current_block().create_var(name=name, dtype=dtype, shape=shape)
"""


def _python(body: str) -> str:
    return _static(
        f"{_TANH}x = data('x', [-1, 3])\n{body}\nloss = paddle.sum(out * out)\n"
        "dx = static.gradients([loss], [x])\nexe = started(main, start)\n"
        "return exe.run(main, feed={'x': v([2, 3], 1)}, fetch_list=[out] + [d for d in dx if d is not None])"
    )


CALLS: dict[str, str] = {
    "average/apply and restore": _average(_EMA, _APPLIED),
    "average/before the first step": _average(_EMA, _APPLIED, 0),
    "average/after one step": _average(_EMA, _APPLIED, 1),
    "average/restored later": _average(
        _EMA,
        "before = value(name)\nwith ema.apply(exe, need_restore=False):\n    pass\nwithin = value(name)\n"
        "ema.restore(exe)\nreturn before, within, value(name)",
    ),
    "average/goes on": _average(
        _EMA,
        "with ema.apply(exe):\n    pass\nexe.run(main, feed=feed)\n"
        "with ema.apply(exe):\n    return value(name)",
    ),
    "average/statistics of batch norm too": _static(
        "x = static.data('x', [None, 2, 3])\nout = static.nn.batch_norm(x, param_attr=paddle.ParamAttr("
        "do_model_average=False))\nloss = paddle.mean(out * out * out)\n"
        "paddle.optimizer.SGD(0.5).minimize(loss)\nema = static.ExponentialMovingAverage(0.5)\nema.update()\n"
        "exe = static.Executor(paddle.CPUPlace())\nexe.run(start)\n"
        "for n in range(2):\n    exe.run(main, feed={'x': v([3, 2, 3], n)}, fetch_list=[loss])\n"
        "names = [p.name for p in main.all_parameters()]\nbefore = [value(n) for n in names]\n"
        "with ema.apply(exe):\n    return names, before, [value(n) for n in names]"
    ),
    "average/raises in eager mode": "paddle.static.ExponentialMovingAverage(0.9)",
    "accuracy": _static(
        f"{_ACCURACY}out = static.accuracy(x, label)\nexe = static.Executor(paddle.CPUPlace())\n"
        f"return exe.run(main, feed={_FED}, fetch_list=[out])"
    ),
    "accuracy/k": _static(
        f"{_ACCURACY}out = static.accuracy(x, label, k=2)\nexe = static.Executor(paddle.CPUPlace())\n"
        f"return exe.run(main, feed={_FED}, fetch_list=[out]), list(out.shape)"
    ),
    "accuracy/counts": _static(
        f"{_ACCURACY}total = main.global_block().create_var(name='total', dtype='int32', shape=[])\n"
        "correct = main.global_block().create_var(name='correct', dtype='int32', shape=[])\n"
        "out = static.accuracy(x, label, 1, correct, total)\nexe = static.Executor(paddle.CPUPlace())\n"
        f"return exe.run(main, feed={_FED}, fetch_list=[out, correct, total])"
    ),
    "auc": _auc(""),
    "auc/every run counts": _auc(", slide_steps=0"),
    "auc/two runs count": _auc(", slide_steps=2", 5),
    "auc/precision and recall": _auc(", curve='PR', num_thresholds=200"),
    "auc/few thresholds": _auc(", num_thresholds=7"),
    "auc/counts": _static(
        f"{_AUC}found, batch, stats = static.auc(x, label, num_thresholds=4)\n"
        "exe = static.Executor(paddle.CPUPlace())\nexe.run(start)\n"
        "feed = {'x': np.array([[.9, .1], [.2, .8], [.4, .6], [.5, .5]], 'float32'), "
        "'label': np.array([[0], [1], [0], [1]])}\n"
        "exe.run(main, feed=feed, fetch_list=[found])\nexe.run(main, feed=feed, fetch_list=[found])\n"
        "return [value(s.name) for s in stats]"
    ),
    "py_func/gradient": _python(
        "out = static.py_func(tanh, x, made('a', [-1, 3]), backward_func=tanh_grad, "
        "skip_vars_in_backward_input=x)"
    ),
    "py_func/gradient of all": _python(
        "out = static.py_func(tanh, x, made('a', [-1, 3]), backward_func=tanh_grad_of_all)"
    ),
    "py_func/several": _python(
        "def both(a, b):\n    return np.array(a) + np.array(b), np.array(a) * 2\n"
        "def back(a, b, c, d, dc, dd):\n    return np.array(dc) + 2 * np.array(dd), np.array(dc)\n"
        "w = paddle.tanh(x)\nresults = [made('a', [-1, 3]), made('b', [-1, 3])]\n"
        "one, two = static.py_func(both, [x, w], results, backward_func=back)\nout = one * two"
    ),
    "py_func/prints only": _static(
        f"{_TANH}x = data('x', [-1, 3])\nseen = []\ndef look(a):\n    seen.append(np.array(a).sum())\n"
        "y = paddle.tanh(x)\nstatic.py_func(look, y, None)\nexe = static.Executor(paddle.CPUPlace())\n"
        "out = exe.run(main, feed={'x': v([2, 3])}, fetch_list=[y])\nreturn out, len(seen), float(seen[0])"
    ),
    "py_func/whole numbers": _static(
        f"{_TANH}x, y = static.data('x', [2, 3], 'int32'), static.data('y', [2, 3], 'int32')\n"
        "def total(a, b):\n    return np.array(a) + np.array(b)\n"
        "out = static.py_func(total, [x, y], made('o', [2, 3], 'int32'))\n"
        "exe = static.Executor(paddle.CPUPlace())\n"
        "feed = {'x': v([2, 3], 0, 'int32'), 'y': np.ones([2, 3], 'int32')}\n"
        "return exe.run(main, feed=feed, fetch_list=[out])"
    ),
    "py_func/raises skipped stranger": _static(
        f"{_TANH}x = data('x', [-1, 3])\ny = paddle.tanh(x)\n"
        "static.py_func(tanh, x, made('a', [-1, 3]), tanh_grad, skip_vars_in_backward_input=y)"
    ),
    "weight norm": _layer("static.nn.fc(x, 3, weight_attr=static.WeightNormParamAttr(dim=None, name='w'))"),
    "weight norm/a dimension": _static(
        "x = data('x', [None, 4])\n"
        "out = static.nn.fc(x, 3, weight_attr=static.WeightNormParamAttr(dim=1))\n"
        "exe = started(main, start)\n"
        "return exe.run(main, feed={'x': v([2, 4])}, fetch_list=[out])"
    ),
    "weight norm/conv": _static(
        "x = data('x', [None, 3, 4, 4])\nattr = static.WeightNormParamAttr(dim=0)\n"
        "out = static.nn.conv2d(x, 2, 3, param_attr=attr, bias_attr=False)\nexe = started(main, start)\n"
        "return exe.run(main, feed={'x': v([2, 3, 4, 4])}, fetch_list=[out])"
    ),
    "weight norm/first values": _static(
        "x = data('x', [None, 4])\nout = static.nn.fc(x, 3, bias_attr=False, weight_attr=static."
        "WeightNormParamAttr(dim=1, initializer=nn.initializer.Constant(0.5)))\n"
        "exe = static.Executor(paddle.CPUPlace())\nexe.run(start)\n"
        "return exe.run(main, feed={'x': v([2, 4])}, fetch_list=[out]), "
        "sorted([p.name, list(p.shape)] for p in main.all_parameters())"
    ),
    "prelu/all": _layer("static.nn.prelu(x, 'all')"),
    "prelu/channel": _layer("static.nn.prelu(x, 'channel')", "[2, 3, 2, 2]"),
    "prelu/channel last": _layer("static.nn.prelu(x, 'channel', data_format='NHWC')", "[2, 2, 2, 3]"),
    "prelu/element": _layer("static.nn.prelu(x, 'element')", "[2, 3, 2]"),
    "prelu/raises mode": _layer("static.nn.prelu(x, 'some')"),
    "bilinear_tensor_product": _layer(
        "static.nn.bilinear_tensor_product(x, y, 3)", more="y = data('y', [2, 5])\n", feed=", 'y': v([2, 5])"
    ),
    "bilinear_tensor_product/activated, no bias": _layer(
        "static.nn.bilinear_tensor_product(x, y, 3, act='tanh', bias_attr=False)",
        more="y = data('y', [2, 5])\n",
        feed=", 'y': v([2, 5])",
    ),
    "bilinear_tensor_product/raises rank": _layer("static.nn.bilinear_tensor_product(x, x, 3)", "[2, 3, 4]"),
    "spectral_norm": _static(
        "w = static.create_parameter([4, 3], 'float32')\nout = static.nn.spectral_norm(w, power_iters=3)\n"
        "exe = started(main, start)\nreturn exe.run(main, fetch_list=[out])"
    ),
    "spectral_norm/second dimension": _static(
        "w = static.create_parameter([4, 3, 2, 2], 'float32')\n"
        "out = static.nn.spectral_norm(w, dim=1, power_iters=2)\n"
        "exe = started(main, start)\nreturn exe.run(main, fetch_list=[out]), list(out.shape)"
    ),
    "row_conv": _layer("static.nn.row_conv(x, 2)", "[2, 5, 3]"),
    "row_conv/activated": _layer("static.nn.row_conv(x, 1, act='relu')", "[2, 5, 3]"),
    "data_norm": _static(
        "x = data('x', [None, 4])\nout = static.nn.data_norm(x, name='dn')\n"
        "exe = static.Executor(paddle.CPUPlace())\nexe.run(start)\n"
        "return exe.run(main, feed={'x': v([3, 4])}, fetch_list=[out]), "
        "sorted([p.name, list(p.shape)] for p in main.all_parameters())"
    ),
    "data_norm/its own statistics": _static(
        "x = data('x', [None, 4])\n"
        "out = static.nn.data_norm(x, param_attr={'batch_size': 10., 'batch_sum': 3., 'batch_square': 20.})\n"
        "exe = static.Executor(paddle.CPUPlace())\nexe.run(start)\n"
        "return exe.run(main, feed={'x': v([3, 4])}, fetch_list=[out])"
    ),
    "deform_conv2d": _layer(
        "static.nn.deform_conv2d(x, o, m, 2, 3, padding=1)",
        "[1, 2, 4, 4]",
        "o, m = data('o', [1, 18, 4, 4]), data('m', [1, 9, 4, 4])\n",
        ", 'o': v([1, 18, 4, 4], 3) / 2, 'm': v([1, 9, 4, 4], 4)",
    ),
    "deform_conv2d/without mask": _layer(
        "static.nn.deform_conv2d(x, o, None, 2, 3)",
        "[1, 2, 4, 4]",
        "o = data('o', [1, 18, 2, 2])\n",
        ", 'o': v([1, 18, 2, 2], 3) / 2",
    ),
    "static_pylayer": _static(
        "x = data('x', [None, 3])\nw = paddle.tanh(x)\n"
        "out = static.nn.static_pylayer(lambda a: paddle.exp(a), [w], lambda g: 2 * paddle.exp(g))\n"
        "dx = static.gradients([out], [x])\nexe = static.Executor(paddle.CPUPlace())\n"
        "return exe.run(main, feed={'x': v([2, 3])}, fetch_list=[out] + dx)"
    ),
    "static_pylayer/several": _static(
        "x, y = data('x', [None, 3]), data('y', [None, 3])\n"
        "def back(g, h):\n    return g * 3, h - g\n"
        "one, two = static.nn.static_pylayer(lambda a, b: (a * b, a + b), [x, y], back)\n"
        "d = static.gradients([paddle.sum(one * two)], [x, y])\nexe = static.Executor(paddle.CPUPlace())\n"
        "return exe.run(main, feed={'x': v([2, 3]), 'y': v([2, 3], 2)}, fetch_list=[one, two] + d)"
    ),
    "static_pylayer/no backward": _static(
        "x = static.data('x', [None, 3])\nout = static.nn.static_pylayer(lambda a: a * 2, [x])\n"
        "exe = static.Executor(paddle.CPUPlace())\n"
        "return exe.run(main, feed={'x': v([2, 3])}, fetch_list=[out])"
    ),
    "static_pylayer/raises no backward": _static(
        "x = data('x', [None, 3])\nstatic.nn.static_pylayer(lambda a: a * 2, [x])"
    ),
    "CompiledProgram": _static(
        "x = static.data('x', [None, 3])\nout = paddle.tanh(x)\nstrategy = static.BuildStrategy()\n"
        "strategy.fuse_elewise_add_act_ops = True\nstrategy.memory_optimize = False\n"
        "strategy.reduce_strategy = static.BuildStrategy.ReduceStrategy.Reduce\n"
        "compiled = static.CompiledProgram(main, build_strategy=strategy)\n"
        "exe = static.Executor(paddle.CPUPlace())\n"
        "return exe.run(compiled, feed={'x': v([2, 3])}, fetch_list=[out])"
    ),
    "BuildStrategy/defaults": _static(
        "s = static.BuildStrategy()\nreturn {k: getattr(s, k) for k in sorted(dir(s)) if k[0] != '_' and "
        "isinstance(getattr(s, k), (bool, int, str, list)) and 'strategy' not in k}"
    ),
    "ExecutionStrategy/defaults": _static(
        "s = static.ExecutionStrategy()\ns.num_threads = 4\ns.num_iteration_per_drop_scope = 10\n"
        "return {k: getattr(s, k) for k in sorted(dir(s)) if k[0] != '_'}"
    ),
    "BuildStrategy/raises unknown": _static("static.BuildStrategy().fuse_everything = True"),
    "BuildStrategy/raises type": _static("static.BuildStrategy().fuse_bn_act_ops = 'yes'"),
    "CompiledProgram/raises no program": _static("static.CompiledProgram(3)"),
    "cpu_places": "[len(paddle.static.cpu_places(3)), str(paddle.static.cpu_places(1)[0])]",
    "create_global_var": _static(
        "x = static.create_global_var([2, 3], 1.5, 'float32', persistable=True, name='g')\n"
        "y = paddle.assign(x + 1.0, x)\nexe = static.Executor(paddle.CPUPlace())\nexe.run(start)\n"
        "exe.run(main)\nexe.run(main)\nreturn value('g'), list(x.shape), x.name, x.persistable"
    ),
    "Print": _static(
        "x = data('x', [None, 3])\ny = static.Print(x, message='seen')\ndx = static.gradients([y * y], [x])\n"
        "exe = static.Executor(paddle.CPUPlace())\n"
        "return exe.run(main, feed={'x': v([2, 3])}, fetch_list=[y] + dx)"
    ),
}
TOLERANCES = {"bilinear_tensor_product/activated, no bias": 1e-4}  # where tanh is nearly 1
