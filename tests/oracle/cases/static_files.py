"""Static graphs in files: training state, inference models, both as bytes."""

from textwrap import indent

_BEGIN = """\
import os, tempfile, warnings
paddle.enable_static()
static = paddle.static
folder = tempfile.mkdtemp()
prefix = os.path.join(folder, 'model')
def v(shape, seed=0, dtype='float32'):
    size = int(np.prod(shape))
    return np.round(np.sin(np.arange(size) * 1.7 + seed), 3).reshape(shape).astype(dtype)
def started(main, start):
    exe = static.Executor(paddle.CPUPlace())
    exe.run(start)
    static.set_program_state(main, {p.name: v(p.shape, n) for n, p in enumerate(main.all_parameters())})
    return exe
def net(optimizer=None):
    x, y = static.data('x', [None, 4]), static.data('y', [None, 1])
    hidden = static.nn.fc(x, 3, activation='tanh')
    out = static.nn.fc(hidden, 1)
    loss = paddle.mean(F.square_error_cost(out, y))
    if optimizer is not None:
        optimizer.minimize(loss)
    return x, y, hidden, out, loss
def train(exe, main, loss, count, first=0):
    return [float(exe.run(main, feed={'x': v([5, 4], n), 'y': v([5, 1], n + 9)}, fetch_list=[loss])[0])
            for n in range(first, first + count)]
"""


def _static(body: str) -> str:
    return (
        f"{_BEGIN}main, start = static.Program(), static.Program()\ndef call():\n{indent(body, '    ')}\n"
        "try:\n    with paddle.utils.unique_name.guard(), static.program_guard(main, start), "
        "static.scope_guard(static.Scope()):\n        found = call()\n"
        "finally:\n    paddle.disable_static()\nfound"
    )


def _continued(optimizer: str, rest: str = "") -> str:
    """Losses of a training that goes on in another scope, from what was saved."""
    return _static(
        f"opt = {optimizer}\nx, y, hidden, out, loss = net(opt)\nexe = started(main, start)\n"
        "before = train(exe, main, loss, 4)\nstatic.save(main, prefix)\nwent = train(exe, main, loss, 4, 4)\n"
        "with static.scope_guard(static.Scope()):\n    exe.run(start)\n    static.load(main, prefix, exe)\n"
        f"    again = train(exe, main, loss, 4, 4)\n{rest}return before, went, again"
    )


def _saved(body: str, fetch: str = "[out]") -> str:
    """An inference model is at ``prefix``."""
    return _static(
        "x, y, hidden, out, loss = net(paddle.optimizer.Adam(0.1))\nexe = started(main, start)\n"
        f"train(exe, main, loss, 2)\nstatic.save_inference_model(prefix, [x], {fetch}, exe)\n{body}"
    )


_LOADED = "program, feeds, fetches = static.load_inference_model(prefix, exe)\n"
_ASKED = "exe.run(program, feed={feeds[0]: v([2, 4], 3)}, fetch_list=fetches)"

CALLS: dict[str, str] = {
    **{
        f"save/training goes on/{name}": _continued(optimizer)
        for name, optimizer in {
            "SGD": "paddle.optimizer.SGD(0.1)",
            "Momentum": "paddle.optimizer.Momentum(0.1, 0.9)",
            "Adam": "paddle.optimizer.Adam(0.05)",
            "AdamW": "paddle.optimizer.AdamW(0.05, weight_decay=0.1)",
            "RMSProp": "paddle.optimizer.RMSProp(0.05)",
            "Adagrad": "paddle.optimizer.Adagrad(0.1)",
            "Lamb": "paddle.optimizer.Lamb(0.05)",
        }.items()
    },
    "save/files": _static(
        "net(paddle.optimizer.Adam(0.1))\nstarted(main, start)\nstatic.save(main, prefix)\n"
        "return sorted(os.listdir(folder))"
    ),
    "save/files without an optimizer": _static(
        "net()\nstarted(main, start)\nstatic.save(main, prefix)\nreturn sorted(os.listdir(folder))"
    ),
    "save/into a new folder": _static(
        "net()\nstarted(main, start)\nstatic.save(main, os.path.join(folder, 'a', 'b'))\n"
        "return sorted(os.listdir(os.path.join(folder, 'a')))"
    ),
    "save/raises no name": _static("net()\nstarted(main, start)\nstatic.save(main, folder + '/')"),
    "load/without a start": _static(
        "x, y, hidden, out, loss = net()\nexe = started(main, start)\nstatic.save(main, prefix)\n"
        "with static.scope_guard(static.Scope()):\n    static.load(main, prefix, exe)\n"
        "    return exe.run(main, feed={'x': v([2, 4]), 'y': v([2, 1])}, fetch_list=[out, loss])"
    ),
    "load/one of the files named": _static(
        "x, y, hidden, out, loss = net()\nexe = started(main, start)\nstatic.save(main, prefix)\n"
        "static.set_program_state(main, {'fc_0.w_0': np.zeros([4, 3], 'float32')})\n"
        "static.load(main, prefix + '.pdparams', exe)\n"
        "return exe.run(main, feed={'x': v([2, 4]), 'y': v([2, 1])}, fetch_list=[out])"
    ),
    "load/raises nothing there": _static("net()\nexe = started(main, start)\nstatic.load(main, prefix, exe)"),
    "load/raises no such parameter": _static(
        "net()\nexe = started(main, start)\nstatic.save(main, prefix)\nstatic.nn.fc(main.global_block()"
        ".var('x'), 7)\nexe.run(start)\nstatic.load(main, prefix, exe)"
    ),
    "load/raises no optimizer state": _static(
        "x, y, hidden, out, loss = net()\nexe = started(main, start)\nstatic.save(main, prefix)\n"
        "os.remove(prefix + '.pdopt')\npaddle.optimizer.Adam(0.1).minimize(loss)\nexe.run(start)\n"
        "static.load(main, prefix, exe)"
    ),
    "load_program_state": _static(
        "net(paddle.optimizer.Adam(0.1))\nstarted(main, start)\nstatic.save(main, prefix)\n"
        "return {k: v for k, v in sorted(static.load_program_state(prefix).items()) if 'pow' not in k}"
    ),
    "load_program_state/a file named": _static(
        "net()\nstarted(main, start)\nstatic.save(main, prefix)\n"
        "return sorted(static.load_program_state(prefix + '.pdparams'))"
    ),
    "load_program_state/into a program": _static(
        "x, y, hidden, out, loss = net()\nexe = started(main, start)\nstatic.save(main, prefix)\n"
        "feed = {'x': v([2, 4]), 'y': v([2, 1])}\nbefore = exe.run(main, feed=feed, fetch_list=[out])\n"
        "exe.run(start)\nstatic.set_program_state(main, static.load_program_state(prefix))\n"
        "return before, exe.run(main, feed=feed, fetch_list=[out])"
    ),
    "set_program_state/raises shape": _static(
        "net()\nstarted(main, start)\nstatic.set_program_state(main, {'fc_0.w_0': v([2, 2])})"
    ),
    "set_program_state/raises dtype": _static(
        "net()\nstarted(main, start)\nstatic.set_program_state(main, {'fc_0.w_0': v([4, 3], 0, 'float64')})"
    ),
    "set_program_state/warns of strangers": _static(
        "net()\nstarted(main, start)\nwith warnings.catch_warnings(record=True) as found:\n"
        "    warnings.simplefilter('always')\n    static.set_program_state(main, {'fc_9.w_0': v([2, 2])})\n"
        "return [str(w.category.__name__) for w in found]"
    ),
    "paddle.save/program": _static(
        "x, y, hidden, out, loss = net(paddle.optimizer.SGD(0.1))\nexe = started(main, start)\n"
        "paddle.save(main, prefix + '.pdmodel')\nback = paddle.load(prefix + '.pdmodel')\n"
        "return train(exe, main, loss.name, 3), train(exe, back, loss.name, 3, 3)"
    ),
    "paddle.save/what a program keeps": _static(
        "net(paddle.optimizer.Momentum(0.1))\nstarted(main, start)\n"
        "paddle.save(main.state_dict(), prefix + '.pdparams')\nback = paddle.load(prefix + '.pdparams')\n"
        "return {k: np.array(back[k]) for k in sorted(back)}"
    ),
    "paddle.save/set_state_dict": _static(
        "x, y, hidden, out, loss = net()\nexe = started(main, start)\n"
        "feed = {'x': v([2, 4]), 'y': v([2, 1])}\npaddle.save(main.state_dict(), prefix)\n"
        "before = exe.run(main, feed=feed, fetch_list=[out])\n"
        "exe.run(start)\nmain.set_state_dict(paddle.load(prefix))\n"
        "return before, exe.run(main, feed=feed, fetch_list=[out])"
    ),
    "paddle.load/what static.save wrote": _static(
        "net(paddle.optimizer.Momentum(0.1))\nstarted(main, start)\nstatic.save(main, prefix)\n"
        "return [{k: np.array(f) for k, f in sorted(paddle.load(prefix + end).items())}\n"
        "        for end in ('.pdparams', '.pdopt')]"
    ),
    "paddle.load/the program that static.save wrote": _static(
        "x, y, hidden, out, loss = net()\nexe = started(main, start)\nstatic.save(main, prefix)\n"
        "back = paddle.load(prefix + '.pdmodel')\n"
        "return exe.run(back, feed={'x': v([2, 4]), 'y': v([2, 1])}, fetch_list=[out.name, loss.name])"
    ),
    "paddle.load/weights of an inference model": _saved(
        "return {k: np.array(f) for k, f in sorted(paddle.load(prefix).items())}"
    ),
    "save_inference_model/predicts": _saved(
        f"want = exe.run(main, feed={{'x': v([2, 4], 3), 'y': v([2, 1])}}, fetch_list=[out])\n{_LOADED}"
        f"return feeds, want, {_ASKED}".replace(
            "want = exe.run(main,", "want = exe.run(main.clone(for_test=True),"
        )
    ),
    "save_inference_model/several results": _saved(
        f"{_LOADED}return feeds, {_ASKED}", "[hidden, out, hidden]"
    ),
    "save_inference_model/one of each": _saved(
        "static.save_inference_model(prefix, x, out, exe)\n" + _LOADED + f"return feeds, {_ASKED}"
    ),
    "save_inference_model/a given program": _saved(
        "with static.program_guard(static.Program(), static.Program()):\n"
        "    static.save_inference_model(prefix, [x], [out], exe, program=main)\n"
        f"{_LOADED}return feeds, {_ASKED}"
    ),
    "save_inference_model/from the middle": _saved(
        "static.save_inference_model(prefix, [hidden], [out], exe)\n"
        + _LOADED
        + "return feeds, exe.run(program, feed={feeds[0]: v([2, 3])}, fetch_list=fetches)"
    ),
    "save_inference_model/shapes": _saved(
        f"{_LOADED}return [str(f.shape) for f in fetches], str(program.global_block().var('x').shape)"
    ),
    "save_inference_model/dropout and batch norm": _static(
        "x = static.data('x', [None, 2, 3])\nh = F.dropout(static.nn.batch_norm(x), 0.5)\n"
        "exe = started(main, start)\nexe.run(main, feed={'x': v([4, 2, 3])}, fetch_list=[h])\n"
        "static.save_inference_model(prefix, [x], [h], exe)\n"
        + _LOADED
        + "return exe.run(program, feed={feeds[0]: v([2, 2, 3], 3)}, fetch_list=fetches)"
    ),
    "save_inference_model/branches": _static(
        "x = static.data('x', [None, 4])\nh = static.nn.fc(x, 2)\n"
        "out = static.nn.cond(paddle.mean(h) > 0, lambda: static.nn.fc(h, 2), lambda: h - 1.0)\n"
        "exe = started(main, start)\nstatic.save_inference_model(prefix, [x], [out], exe)\n"
        + _LOADED
        + "return [exe.run(program, feed={'x': v([2, 4], n)}, fetch_list=fetches) for n in range(4)]"
    ),
    "save_inference_model/a loop": _static(
        "x = static.data('x', [None, 4])\nn = paddle.full([1], 0, 'int64')\n"
        "def body(n, y):\n    return n + 1, y * 0.5 + x\n"
        "out = static.nn.while_loop(lambda n, y: n < 3, body, [n, x * 1.0])[1]\n"
        "exe = started(main, start)\nstatic.save_inference_model(prefix, [x], [out], exe)\n"
        + _LOADED
        + f"return {_ASKED}"
    ),
    "save_inference_model/another scope": _saved(
        f"scope = static.Scope()\nwith static.scope_guard(scope):\n    {_LOADED.strip()}\n"
        f"    return {_ASKED}, np.array(scope.find_var('fc_1.w_0').get_tensor())"
    ),
    "save_inference_model/loaded by jit.load": _saved(
        "paddle.disable_static()\nlayer = paddle.jit.load(prefix)\nlayer.eval()\n"
        "return layer(paddle.to_tensor(v([2, 4], 3))).detach().numpy()"
    ),
    "save_inference_model/raises feed that is none": _saved(
        "static.save_inference_model(prefix, ['x'], [out], exe)"
    ),
    "save_inference_model/raises fetch that is none": _saved(
        "static.save_inference_model(prefix, [x], [3], exe)"
    ),
    "save_inference_model/raises in eager mode": _saved(
        "paddle.disable_static()\nstatic.save_inference_model(prefix, [x], [out], exe)"
    ),
    "load_inference_model/of jit.save": _static(
        "paddle.disable_static()\nx = t([2, 4]).numpy()\n"
        "layer = formula(nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2)))\nlayer.eval()\n"
        "paddle.jit.save(layer, prefix, [static.InputSpec([None, 4], 'float32', 'x')])\n"
        "want = layer(paddle.to_tensor(x)).numpy()\npaddle.enable_static()\n"
        f"exe = static.Executor(paddle.CPUPlace())\n{_LOADED}"
        "return feeds, want, exe.run(program, feed={feeds[0]: x}, fetch_list=fetches)"
    ),
    "load_inference_model/names of the files": _saved(
        "program, feeds, fetches = static.load_inference_model(folder, exe, model_filename='model.pdmodel', "
        f"params_filename='model.pdiparams')\nreturn feeds, {_ASKED}"
    ),
    "load_inference_model/raises nothing there": _static(
        "exe = static.Executor(paddle.CPUPlace())\nstatic.load_inference_model(prefix, exe)"
    ),
    "load_inference_model/raises unknown option": _saved(
        "static.load_inference_model(prefix, exe, modelfilename='a')"
    ),
    "normalize_program": _saved(
        "program = static.normalize_program(main, [x], [out])\n"
        "return exe.run(program, feed={'x': v([2, 4], 3)}, fetch_list=[out.name])"
    ),
    "normalize_program/raises no program": _saved("static.normalize_program('main', [x], [out])"),
    "normalize_program/raises no Variables": _saved("static.normalize_program(main, [x], ['out'])"),
    "bytes/program and values": _saved(
        "kept = [static.serialize_program([x], [out]), static.serialize_persistables([x], [out], exe)]\n"
        "for name, data in zip(('p', 'w'), kept):\n"
        "    static.save_to_file(os.path.join(folder, name), data)\n"
        "back = [static.load_from_file(os.path.join(folder, name)) for name in ('p', 'w')]\n"
        "with static.scope_guard(static.Scope()):\n    program = static.deserialize_program(back[0])\n"
        "    static.deserialize_persistables(program, back[1], exe)\n"
        "    return [type(k).__name__ for k in kept], [a == b for a, b in zip(kept, back)], exe.run(\n"
        "        program, feed={'x': v([2, 4], 3)}, fetch_list=[out.name])"
    ),
    "bytes/the program of an inference model": _saved(
        "program = static.deserialize_program(static.load_from_file(prefix + '.pdmodel'))\n"
        "return sorted(v.name for v in program.list_vars() if v.persistable and v.name.startswith('fc'))"
    ),
    "bytes/raises no bytes": _saved("static.save_to_file(prefix, 'text')"),
    "bytes/raises nothing there": _saved("static.load_from_file(prefix + '.none')"),
}
# Paddle's kernels carry 1 - beta in float32.
TOLERANCES = dict.fromkeys((f"save/training goes on/{n}" for n in ("Adam", "AdamW", "Lamb")), 1e-5) | {
    "paddle.load/weights of an inference model": 1e-4
}
