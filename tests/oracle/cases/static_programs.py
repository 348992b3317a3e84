"""Static graphs: Programs, Blocks, Variables, Executor, scopes, gradients and optimizers as objects."""

from textwrap import indent

_BEGIN = """\
import threading, warnings
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
def net():
    x, y = static.data('x', [None, 4]), static.data('y', [None, 1])
    hidden = static.nn.fc(x, 3, activation='tanh')
    out = static.nn.fc(hidden, 1)
    return x, y, hidden, out, paddle.mean(F.square_error_cost(out, y))
def types(program):
    return [op.type for op in program.global_block().ops]
def names(found):
    return [f.name for f in found]
feed = {'x': v([2, 4]), 'y': v([2, 1], 3)}
main, start = static.Program(), static.Program()
"""


def _static(body: str) -> str:
    return (
        f"{_BEGIN}def call():\n{indent(body, '    ')}\n"
        "try:\n    with paddle.utils.unique_name.guard(), static.program_guard(main, start), "
        "static.scope_guard(static.Scope()):\n        found = call()\n"
        "finally:\n    paddle.disable_static()\nfound"
    )


def _net(body: str) -> str:
    return _static(f"x, y, hidden, out, loss = net()\n{body}")


def _run(body: str) -> str:
    return _net(f"exe = started(main, start)\n{body}")


def _trained(optimizer: str, body: str = "", steps: int = 3, fetch: str = "[loss]") -> str:
    return _net(
        f"opt = {optimizer}\nopt.minimize(loss)\nexe = started(main, start)\n"
        f"losses = [exe.run(main, feed=feed, fetch_list={fetch}) for _ in range({steps})]\n"
        f"{body}return losses, [value(p.name) for p in main.all_parameters()]"
    )


_OPTIMIZERS = {
    "SGD": "SGD(0.1)",
    "SGD/decay": "SGD(0.1, weight_decay=0.05)",
    "SGD/L1": "SGD(0.1, weight_decay=paddle.regularizer.L1Decay(0.05))",
    "SGD/clip norm": "SGD(0.1, grad_clip=nn.ClipGradByGlobalNorm(0.1))",
    "SGD/clip each": "SGD(0.1, grad_clip=nn.ClipGradByNorm(0.1))",
    "SGD/clip value": "SGD(0.1, grad_clip=nn.ClipGradByValue(0.05))",
    "Momentum": "Momentum(0.1, 0.9)",
    "Momentum/nesterov": "Momentum(0.1, 0.9, use_nesterov=True, weight_decay=0.01)",
    "Adam": "Adam(0.05)",
    "Adam/decay": "Adam(0.05, weight_decay=0.1)",
    "Adam/betas": "Adam(0.05, 0.8, 0.95, 1e-6)",
    "AdamW": "AdamW(0.05)",
    "AdamW/some": "AdamW(0.05, apply_decay_param_fun=lambda n: n == 'fc_0.w_0')",
    "Adamax": "Adamax(0.05)",
    "Adagrad": "Adagrad(0.1, initial_accumulator_value=0.1)",
    "Adadelta": "Adadelta(0.5)",
    "RMSProp": "RMSProp(0.05, centered=True, momentum=0.5)",
    "Lamb": "Lamb(0.05)",
}
_SCHEDULERS = {
    "StepDecay": "StepDecay(0.1, 2, 0.5)",
    "MultiStepDecay": "MultiStepDecay(0.1, [2, 3])",
    "ExponentialDecay": "ExponentialDecay(0.1, 0.7)",
    "NoamDecay": "NoamDecay(16, 3)",
    "PolynomialDecay": "PolynomialDecay(0.1, 4, 0.01)",
    "CosineAnnealingDecay": "CosineAnnealingDecay(0.1, 4)",
    "LinearWarmup": "LinearWarmup(paddle.optimizer.lr.StepDecay(0.1, 1), 2, 0., 0.1)",
    "PiecewiseDecay": "PiecewiseDecay([2, 4], [0.1, 0.05, 0.01])",
    "LambdaDecay": "LambdaDecay(0.1, lambda n: 0.9 ** n)",
}

CALLS: dict[str, str] = {
    # -- Programs, Blocks, Variables -----------------------------------------------------------------------
    "program/variables": _net("return sorted(names(main.list_vars())), names(main.all_parameters())"),
    "program/operators": _net("paddle.optimizer.Adam(0.1).minimize(loss)\nreturn types(main), types(start)"),
    "program/blocks": _net(
        "static.nn.cond(paddle.mean(out) > 0, lambda: out + 1, lambda: out * 2)\n"
        "return main.num_blocks, [(b.idx, b.parent_idx) for b in main.blocks], main.block(1).idx"
    ),
    "program/random_seed": _static(
        "before = main.random_seed\nmain.random_seed = 7\nreturn before, main.random_seed"
    ),
    "program/raises random_seed": _static("main.random_seed = 'seven'"),
    "program/raises block": _static("main.block(3)"),
    "program/clone": _net(
        "F.dropout(static.nn.batch_norm(out), 0.3)\npaddle.optimizer.SGD(0.1).minimize(loss)\n"
        "test, whole = main.clone(for_test=True), main.clone()\n"
        "return types(main), types(whole), types(test), names(test.all_parameters())"
    ),
    "program/clone runs": _static(
        "x = static.data('x', [None, 4])\nout = F.dropout(x, 0.5) * 2\ntest = main.clone(for_test=True)\n"
        "return static.Executor().run(test, feed={'x': v([2, 4])}, fetch_list=[out])"
    ),
    "program/default": _static(
        "return static.default_main_program() is main, static.default_startup_program() is start"
    ),
    "program/guard of one": _static(
        "other = static.Program()\nwith static.program_guard(other):\n"
        "    within = static.default_main_program() is other, static.default_startup_program() is start\n"
        "return within, static.default_main_program() is main"
    ),
    "program/raises guard": _static("with static.program_guard('main'):\n    pass"),
    "program/state_dict": _net(
        "paddle.optimizer.Momentum(0.1).minimize(loss)\nstarted(main, start)\n"
        "return [sorted(main.state_dict(mode)) for mode in ('all', 'param', 'opt')]"
    ),
    "program/raises state_dict": _net("started(main, start)\nreturn main.state_dict('some')"),
    "program/set_state_dict": _run(
        "main.set_state_dict({'fc_0.b_0': np.array([1, 2, 3], 'float32')})\nreturn value('fc_0.b_0')"
    ),
    "program/text again": _net("return str(main) == main.to_string(False), str(main) == repr(main)"),
    "block/raises no variable": _net("main.global_block().var('none')"),
    "block/has_var": _net("b = main.global_block()\nreturn b.has_var('x'), b.has_var('z'), b.var('x') is x"),
    "block/create_var": _static(
        "b = main.global_block()\nmade = b.create_var(name='a', shape=[2, 3], dtype='float64')\n"
        "return made.name, list(made.shape), made.persistable, str(made)"
    ),
    "variable/what it is": _net(
        "w = main.all_parameters()[0]\nreturn [[str(f), f.name, [int(d) for d in f.shape], f.persistable, "
        "f.stop_gradient, f.ndim] for f in (x, w, loss)]"
    ),
    "variable/parameter": _net(
        "w = main.all_parameters()[0]\nreturn [w.trainable, w.need_clip, w.is_distributed, "
        "w.optimize_attr['learning_rate']], type(w).__name__, isinstance(w, static.Variable)"
    ),
    "variable/astype": _net("return [str(x.astype(d)) for d in ('float64', 'int32', 'bool')]"),
    "variable/stop_gradient": _net("x.stop_gradient = False\nreturn str(x)"),
    "variable/persistable": _net("out.persistable = True\nreturn str(out)"),
    "variable/grad_name": _net("return x.grad_name, loss.grad_name"),
    "variable/raises numpy": _net("x.numpy()"),
    "variable/raises int": _net("return int(loss)"),
    "variable/raises len": _static("return len(static.data('x', [None, 2]))"),
    "variable/compared": _net("return str(x == y), str(x != y), x in [x]"),
    "variable/hash": _net("return {x: 1}[x], len({x, y, x})"),
    "variable/clone": _run("return exe.run(main, feed=feed, fetch_list=[x.clone()])"),
    "variable/detach": _net(
        "again = hidden.detach()\nagain.stop_gradient\nreturn again.stop_gradient, list(again.shape)[1]"
    ),
    "variable/methods": _run(
        "return exe.run(main, feed=feed, fetch_list=[x.sum(), x.mean(axis=0), x.reshape([-1]), "
        "x.abs().max(), "
        "x.t() if hasattr(x, 't') else x, (x > 0).astype('int64').sum(1), x.matmul(x.transpose([1, 0]))])"
    ),
    "data/raises in eager mode": "paddle.static.data('x', [1])",
    "data/lod": _static("return static.data('x', [None, 2], 'int64', 1).name"),
    "data/negative": _static("return str(static.data('x', [-1, 2]))"),
    # -- names -----------------------------------------------------------------------------------------------
    "names/generate": _static(
        "g = paddle.utils.unique_name.generate\nreturn g('a'), g('a'), g('b'), g('a_0')"
    ),
    "names/guard": _static(
        "u = paddle.utils.unique_name\nu.generate('a')\nwith u.guard():\n    within = u.generate('a')\n"
        "with u.guard('of_'):\n    prefixed = u.generate('a')\nreturn within, prefixed, u.generate('a')"
    ),
    "names/switch": _static(
        "u = paddle.utils.unique_name\nu.generate('a')\nold = u.switch()\nwithin = u.generate('a')\n"
        "u.switch(*old)\nreturn within, u.generate('a')"
    ),
    "names/given": _static(
        "x, w = static.data('x', [2, 4]), static.data('w', [4, 3])\nim = static.data('im', [1, 3, 6, 6])\n"
        "return names([static.nn.fc(x, 3, name='f'), static.nn.fc(x, 3, name='f'), paddle.add(x, x, "
        "name='a'), "
        "F.relu(x, name='r'), paddle.mean(x, name='m'), paddle.reshape(x, [8], name='z'), "
        "nn.Linear(4, 3, name='l')(x), F.linear(x, w, name='k'), static.nn.conv2d(im, 2, 3, name='c'), "
        "nn.ReLU(name='q')(x), paddle.concat([x, x], name='cc'), paddle.full([1], 2., name='u')]), "
        "names(main.all_parameters())"
    ),
    "names/parameters of attributes": _static(
        "x = static.data('x', [2, 4])\nstatic.nn.fc(x, 3, weight_attr='w', bias_attr=paddle.ParamAttr('b'))\n"
        "nn.Linear(4, 2, weight_attr=paddle.ParamAttr(name='lw'), bias_attr=False)(x)\n"
        "return names(main.all_parameters())"
    ),
    "names/a shared parameter": _static(
        "x = static.data('x', [None, 4])\na = static.nn.fc(x, 3, weight_attr='w', bias_attr=False)\n"
        "b = static.nn.fc(x * 2, 3, weight_attr='w', bias_attr=False)\nexe = started(main, start)\n"
        "loss = paddle.mean(a * b)\npairs = static.append_backward(loss)\n"
        "return names(main.all_parameters()), exe.run(main, feed={'x': v([2, 4])}, fetch_list=[a, b, "
        "pairs[0][1]])"
    ),
    "names/raises shared of another shape": _static(
        "x = static.data('x', [None, 4])\nstatic.nn.fc(x, 3, weight_attr='w')\nstatic.nn.fc(x, 5, "
        "weight_attr='w')"
    ),
    "names/scope": _static(
        "x = static.data('x', [2])\nwith static.name_scope('a'):\n    p = x + 1\n"
        "    with static.name_scope('b'):\n        q = x * 3\nwith static.name_scope('a'):\n    r = x - 1\n"
        "return [op.attr('op_namescope') for op in main.global_block().ops]"
    ),
    "names/device": _static(
        "x = static.data('x', [2])\nwith static.device_guard('cpu'):\n    p = x + 1\nq = x * 2\n"
        "return [op.attr('op_device') for op in main.global_block().ops]"
    ),
    "names/raises device": _static("with static.device_guard('tpu'):\n    pass"),
    # -- making of parameters -----------------------------------------------------------------------------
    "parameter/made": _static(
        "p = static.create_parameter([2, 3], 'float32', name='p', "
        "default_initializer=nn.initializer.Constant(3.))\n"
        "q = static.create_parameter([2], 'float64', is_bias=True)\nexe = static.Executor()\nexe.run(start)\n"
        "return p.name, q.name, exe.run(main, fetch_list=[p, q])"
    ),
    "parameter/paddle": _static(
        "p = paddle.create_parameter([2, 3], 'float32')\nreturn p.name, p.persistable, p.stop_gradient"
    ),
    "parameter/first values": _static(
        "i = nn.initializer\nmade = [static.create_parameter([2, 2], 'float32', default_initializer=f) for "
        "f in ("
        "i.Constant(2.), i.Assign(np.arange(4.).reshape(2, 2).astype('float32')), i.Assign([[1., 2.], [3., "
        "4.]]), "
        "i.Uniform(1., 1.), i.Normal(2., 0.))]\nexe = static.Executor()\nexe.run(start)\n"
        "return exe.run(main, fetch_list=made)"
    ),
    "parameter/raises shape": _static("static.create_parameter(['a'], 'float32')"),
    "parameter/raises dtype": _static("static.create_parameter([2], 'float')"),
    "parameter/not trained": _static(
        "x = static.data('x', [None, 2])\n"
        "out = static.nn.fc(x, 2, weight_attr=paddle.ParamAttr(trainable=False))\nloss = paddle.mean(out)\n"
        "opt = paddle.optimizer.SGD(0.1)\n_, pairs = opt.minimize(loss)\nreturn [p.name for p, g in pairs], "
        "[p.trainable for p in main.all_parameters()]"
    ),
    "parameter/rate of its own": _static(
        "x = static.data('x', [None, 2])\nattr = paddle.ParamAttr(learning_rate=0.5, "
        "initializer=nn.initializer.Constant(1.), regularizer=paddle.regularizer.L2Decay(0.2))\n"
        "loss = paddle.mean(static.nn.fc(x, 2, weight_attr=attr))\npaddle.optimizer.SGD(0.1).minimize(loss)\n"
        "exe = static.Executor()\nexe.run(start)\nexe.run(main, feed={'x': v([3, 2])})\nreturn "
        "value('fc_0.w_0')"
    ),
    "parameter/not clipped": _static(
        "x = static.data('x', [None, 2])\nattr = paddle.ParamAttr(need_clip=False, "
        "initializer=nn.initializer.Constant(1.))\nloss = paddle.mean(static.nn.fc(x, 2, "
        "weight_attr=attr)) * 9\n"
        "paddle.optimizer.SGD(0.1, grad_clip=nn.ClipGradByGlobalNorm(0.1)).minimize(loss)\n"
        "exe = static.Executor()\nexe.run(start)\nexe.run(main, feed={'x': v([3, 2])})\n"
        "return value('fc_0.w_0'), value('fc_0.b_0')"
    ),
    # -- Executor --------------------------------------------------------------------------------------------
    "run/fetches": _run(
        "found = exe.run(main, feed=feed, fetch_list=[loss, out, 'fc_0.w_0', hidden.name, loss])\n"
        "return found, [type(f).__name__ for f in found], found[0].shape"
    ),
    "run/nothing fetched": _run("return exe.run(main, feed=feed), exe.run(main, feed=feed, fetch_list=[])"),
    "run/one fetched": _run("return exe.run(main, feed=feed, fetch_list=out)"),
    "run/a name fetched": _run("return exe.run(main, feed=feed, fetch_list=[out.name])"),
    "run/tensors": _run(
        "found = exe.run(main, feed=feed, fetch_list=[out], return_numpy=False)\n"
        "return np.array(found[0]), list(found[0].shape())"
    ),
    "run/the default program": _run("return exe.run(feed=feed, fetch_list=[out])"),
    "run/what is fed": _run("return exe.run(main, feed=feed, fetch_list=['x', y])"),
    "run/a list fed": _run(
        "return exe.run(main, feed={'x': v([2, 4]).tolist(), 'y': np.zeros([2, 1], 'float32')}, "
        "fetch_list=[x])"
    ),
    "run/raises float64 fed": _run(
        "return exe.run(main, feed={'x': v([2, 4], 0, 'float64'), 'y': v([2, 1])}, fetch_list=[x])"
    ),
    "run/more fed than there is": _run("return exe.run(main, feed={**feed, 'z': v([2])}, fetch_list=[out])"),
    "run/batches": _run(
        "return [exe.run(main, feed={'x': v([n, 4]), 'y': v([n, 1])}, fetch_list=[loss])[0] for n in (1, "
        "3, 1)]"
    ),
    "run/raises nothing fed": _run("exe.run(main, fetch_list=[out])"),
    "run/raises shape": _run("exe.run(main, feed={'x': v([2, 5]), 'y': v([2, 1])}, fetch_list=[out])"),
    "run/raises rank": _run("exe.run(main, feed={'x': v([4]), 'y': v([2, 1])}, fetch_list=[out])"),
    "run/raises int fed": _run(
        "exe.run(main, feed={'x': v([2, 4]).astype('int64'), 'y': v([2, 1])}, fetch_list=[out])"
    ),
    "run/raises fetch": _run("exe.run(main, feed=feed, fetch_list=['none'])"),
    "run/raises fetch of another kind": _run("exe.run(main, feed=feed, fetch_list=[3])"),
    "run/raises program": _run("exe.run('main', feed=feed, fetch_list=[out])"),
    "run/raises not started": _net("static.Executor().run(main, feed=feed, fetch_list=[out])"),
    "run/closed": _run("exe.close()\nreturn 1"),
    "run/another scope": _run(
        "scope = static.Scope()\nexe.run(start, scope=scope)\n"
        "scope.find_var('fc_0.w_0').get_tensor().set(np.ones([4, 3], 'float32'), paddle.CPUPlace())\n"
        "scope.find_var('fc_1.w_0').get_tensor().set(np.ones([3, 1], 'float32'), paddle.CPUPlace())\n"
        "return [exe.run(main, feed=feed, fetch_list=[out], scope=s)[0] for s in (scope, "
        "static.global_scope())]"
    ),
    "run/a counter": _static(
        "n = static.create_global_var([1], 0, 'int64', persistable=True, name='n')\npaddle.increment(n)\n"
        "exe = static.Executor()\nexe.run(start)\nreturn [exe.run(main, fetch_list=[n])[0] for _ in range(3)]"
    ),
    "run/an assigned buffer": _static(
        "x = static.data('x', [2])\nkept = static.create_global_var([2], 0.5, 'float32', persistable=True)\n"
        "paddle.assign(kept * 0.5 + x, kept)\nexe = static.Executor()\nexe.run(start)\n"
        "return [exe.run(main, feed={'x': v([2], n)}, fetch_list=[kept])[0] for n in range(3)]"
    ),
    "run/batch norm keeps": _static(
        "x = static.data('x', [None, 3, 2])\nout = static.nn.batch_norm(x, momentum=0.5)\n"
        "test = main.clone(for_test=True)\nexe = static.Executor()\nexe.run(start)\n"
        "for n in range(2):\n    exe.run(main, feed={'x': v([4, 3, 2], n)}, fetch_list=[out])\n"
        "return value('batch_norm_0.w_1'), value('batch_norm_0.w_2'), exe.run(test, feed={'x': v([1, 3, "
        "2])}, "
        "fetch_list=[out])"
    ),
    # -- scopes ----------------------------------------------------------------------------------------------
    "scope/absent": _run("return static.global_scope().find_var('none') is None"),
    "scope/tensor": _run(
        "t = static.global_scope().find_var('fc_0.w_0').get_tensor()\n"
        "t.set(np.full([4, 3], 2., 'float32'), paddle.CPUPlace())\n"
        "return list(t.shape()), exe.run(main, feed=feed, fetch_list=[hidden, 'fc_0.w_0'])"
    ),
    "scope/var": _run(
        "scope = static.Scope()\nscope.var('a').get_tensor().set(v([2]), paddle.CPUPlace())\n"
        "return np.array(scope.find_var('a').get_tensor()), static.global_scope().find_var('a') is None"
    ),
    "scope/guard": _run(
        "outer = static.global_scope()\nwith static.scope_guard(static.Scope()):\n"
        "    within = static.global_scope().find_var('fc_0.w_0') is None\n"
        "return within, static.global_scope() is outer"
    ),
    # -- gradients -----------------------------------------------------------------------------------------
    "backward/pairs": _net("return [(p.name, g.name) for p, g in static.append_backward(loss)]"),
    "backward/values": _net(
        "pairs = static.append_backward(loss)\nexe = started(main, start)\n"
        "return exe.run(main, feed=feed, fetch_list=[g for _, g in pairs] + [hidden.name + '@GRAD'])"
    ),
    "backward/some parameters": _net(
        "return [(p.name, g.name) for p, g in static.append_backward(loss, parameter_list=['fc_1.w_0'])]"
    ),
    "backward/no_grad_set": _net(
        "return [p.name for p, g in static.append_backward(loss, no_grad_set={'fc_0.b_0'})]"
    ),
    "backward/to what is fed": _net(
        "x.stop_gradient = False\nstatic.append_backward(loss)\nexe = started(main, start)\n"
        "return exe.run(main, feed=feed, fetch_list=['x@GRAD'])"
    ),
    "backward/raises no Variable": _net("static.append_backward('loss')"),
    "gradients/one": _net(
        "x.stop_gradient = False\nfound = static.gradients([loss], [x])\nexe = started(main, start)\n"
        "return names(found), exe.run(main, feed=feed, fetch_list=found)"
    ),
    "gradients/several": _net(
        "found = static.gradients([out, hidden], [hidden, main.all_parameters()[0]])\n"
        "exe = started(main, start)\nreturn exe.run(main, feed=feed, fetch_list=found)"
    ),
    "gradients/given": _net(
        "x.stop_gradient = False\nw = static.data('w', [None, 1])\n"
        "found = static.gradients([out], [x], target_gradients=[w])\nexe = started(main, start)\n"
        "return exe.run(main, feed={**feed, 'w': v([2, 1], 5)}, fetch_list=found)"
    ),
    "gradients/no way": _static(
        "x, y = static.data('x', [2]), static.data('y', [2])\nx.stop_gradient = y.stop_gradient = False\n"
        "return [f is None for f in static.gradients([paddle.sum(x)], [x, y])]"
    ),
    "gradients/of gradients": _static(
        "x = static.data('x', [3])\nx.stop_gradient = False\nfirst = static.gradients([paddle.sum(x * x * "
        "x)], [x])\n"
        "second = static.gradients([paddle.sum(first[0] * first[0])], [x])\n"
        "return static.Executor().run(main, feed={'x': v([3])}, fetch_list=first + second)"
    ),
    "gradients/twice": _net(
        "x.stop_gradient = False\na = static.gradients([loss], [x])\nb = static.gradients([out], [x])\n"
        "exe = started(main, start)\nreturn exe.run(main, feed=feed, fetch_list=a + b)"
    ),
    "gradients/branches": _static(
        "x, k = static.data('x', [3]), static.data('k', [1])\nx.stop_gradient = False\n"
        "w = static.create_parameter([3], 'float32', name='w')\n"
        "out = static.nn.cond(paddle.sum(k) > 0, lambda: x * x * w, lambda: paddle.exp(x))\n"
        "found = static.gradients([paddle.sum(out)], [x, w])\nexe = started(main, start)\n"
        "return [exe.run(main, feed={'x': v([3], 1), 'k': np.array([n], 'float32')}, fetch_list=[out] + "
        "found) "
        "for n in (1., -1.)]"
    ),
    "gradients/a loop": _static(
        "x, k = static.data('x', [3]), static.data('k', [1], 'int64')\nx.stop_gradient = False\n"
        "w = static.create_parameter([3], 'float32', name='w')\nn = paddle.full([1], 0, 'int64')\n"
        "n, out = static.nn.while_loop(lambda n, y: n < k, lambda n, y: [n + 1, y * w + x], [n, x * 1.])\n"
        "found = static.gradients([paddle.sum(out)], [x, w])\nexe = started(main, start)\n"
        "return [exe.run(main, feed={'x': v([3], 1), 'k': np.array([m])}, fetch_list=[n, out] + found) for "
        "m in (3, 1)]"
    ),
    # -- optimizers ------------------------------------------------------------------------------------------
    **{f"minimize/{name}": _trained(f"paddle.optimizer.{code}") for name, code in _OPTIMIZERS.items()},
    "minimize/what it gives": _net(
        "ops, pairs = paddle.optimizer.SGD(0.1).minimize(loss)\nreturn len(ops), [(p.name, g.name) for p, "
        "g in pairs]"
    ),
    "minimize/some parameters": _trained("paddle.optimizer.SGD(0.1, parameters=None)", steps=1).replace(
        "opt.minimize(loss)", "opt.minimize(loss, parameters=['fc_1.w_0', 'fc_1.b_0'])"
    ),
    "minimize/no_grad_set": _trained("paddle.optimizer.SGD(0.1)", steps=1).replace(
        "opt.minimize(loss)", "opt.minimize(loss, no_grad_set={'fc_0.w_0'})"
    ),
    "minimize/in two parts": _trained("paddle.optimizer.Momentum(0.1)").replace(
        "opt.minimize(loss)", "opt.apply_gradients(opt.backward(loss))"
    ),
    "minimize/gradients changed": _trained("paddle.optimizer.SGD(0.1)").replace(
        "opt.minimize(loss)", "opt.apply_gradients([(p, g * 0.5) for p, g in opt.backward(loss)])"
    ),
    "minimize/get_lr": _net(
        "opt = paddle.optimizer.SGD(0.25)\nopt.minimize(loss)\nstarted(main, start)\nreturn opt.get_lr()"
    ),
    "minimize/the rate": _trained("paddle.optimizer.SGD(0.1)", fetch="['learning_rate_0', loss]"),
    "minimize/a Layer": _static(
        "x, y = static.data('x', [None, 4]), static.data('y', [None, 1], 'int64')\n"
        "model = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 3))\n"
        "loss = nn.CrossEntropyLoss()(model(x), y)\npaddle.optimizer.Adam(0.01).minimize(loss)\n"
        "exe = started(main, start)\nfeed = {'x': v([6, 4]), 'y': np.array([[0], [1], [2], [0], [1], [2]])}\n"
        "return [exe.run(main, feed=feed, fetch_list=[loss])[0] for _ in range(3)], "
        "names(main.all_parameters())"
    ),
    "minimize/parameters of a Layer": _static(
        "x = static.data('x', [None, 4])\nfirst, second = nn.Linear(4, 3), nn.Linear(3, 1)\n"
        "loss = paddle.mean(second(first(x)))\n"
        "opt = paddle.optimizer.SGD(0.1, parameters=second.parameters())\n_, pairs = opt.minimize(loss)\n"
        "return [p.name for p, _ in pairs]"
    ),
    **{
        f"scheduler/{name}": _net(
            f"rate = paddle.optimizer.lr.{code}\npaddle.optimizer.SGD(rate).minimize(loss)\n"
            "exe, seen = started(main, start), []\nfor n in range(5):\n"
            "    seen.append(exe.run(main, feed=feed, fetch_list=[loss, 'learning_rate_0']))\n    "
            "rate.step()\n"
            "return seen"
        )
        for name, code in _SCHEDULERS.items()
    },
    "scheduler/by its value": _net(
        "rate = paddle.optimizer.lr.ReduceOnPlateau(0.1, patience=0, factor=0.5)\n"
        "paddle.optimizer.SGD(rate).minimize(loss)\nexe, seen = started(main, start), []\n"
        "for n in range(4):\n    found = exe.run(main, feed=feed, fetch_list=[loss, 'learning_rate_0'])\n"
        "    seen.append(found)\n    rate.step(np.array([1.0], 'float32'))\nreturn seen"
    ),
    # -- InputSpec -------------------------------------------------------------------------------------------
    "InputSpec/text": "spec = paddle.static.InputSpec([None, 784], 'float32', 'x')\nstr(spec), repr(spec)",
    "InputSpec/defaults": "s = paddle.static.InputSpec([2, 3])\nlist(s.shape), str(s.dtype)[-4:], s.name",
    "InputSpec/from_tensor": ("s = paddle.static.InputSpec.from_tensor(t([2, 3]), 'x')\nstr(s)"),
    "InputSpec/from_numpy": (
        "s = paddle.static.InputSpec.from_numpy(np.ones([2, 2], 'float32'), 'x')\nstr(s)"
    ),
    "InputSpec/batch": "str(paddle.static.InputSpec([2, 3], 'int64', 'x').batch(4))",
    "InputSpec/unbatch": "str(paddle.static.InputSpec([4, 2], 'int64', 'x').unbatch())",
    "InputSpec/raises batch": "paddle.static.InputSpec([2, 3]).batch([2, 3])",
    "InputSpec/raises unbatch": "paddle.static.InputSpec([]).unbatch()",
    "InputSpec/equal": (
        "a, b = paddle.static.InputSpec([2, None]), paddle.static.InputSpec([2, None])\na == b, hash(a) == "
        "hash(b), "
        "a == paddle.static.InputSpec([3, None]), a != b"
    ),
    "InputSpec/raises shape": "paddle.static.InputSpec(3)",
    # -- modes -----------------------------------------------------------------------------------------------
    "mode/in turn": _static(
        "a = paddle.in_dynamic_mode()\npaddle.disable_static()\nb = paddle.in_dynamic_mode()\n"
        "paddle.enable_static()\nreturn a, b, paddle.in_dynamic_mode()"
    ),
    "mode/eager between": _static(
        "x = static.data('x', [2])\npaddle.disable_static()\nt1 = paddle.to_tensor([1., 2.]) * 2\n"
        "paddle.enable_static()\ny = x + 1\nreturn [float(f) for f in t1.numpy()], types(main)"
    ),
    "mode/names": _static(
        "return static.Program.__name__, static.Variable.__name__, static.Executor.__name__"
    ),
}

# A gradient near 0, whose variance is the difference of nearly equal numbers.
TOLERANCES = {"minimize/RMSProp": 1e-3}
