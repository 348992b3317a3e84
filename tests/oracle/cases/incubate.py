"""incubate: optimizers, minimization, graphs, softmax with a mask, derivatives of Programs."""

_ROOM = "paddle.incubate"
_ROW = "paddle.to_tensor([3, 7, 0, 9, 1, 4, 2, 9, 3, 9, 1, 9, 7])"
_STARTS = "paddle.to_tensor([0, 2, 4, 5, 6, 7, 9, 11, 11, 13, 13])"


def _graphs() -> dict[str, str]:
    calls = {}
    for kind in ("sum", "mean", "max", "min"):
        calls[f"graph_send_recv/{kind}"] = (
            f"{_ROOM}.graph_send_recv(t([4, 3]), paddle.to_tensor([0, 1, 2, 0]), "
            f"paddle.to_tensor([1, 2, 1, 0]), '{kind}')"
        )
        calls[f"segment_{kind}"] = f"{_ROOM}.segment_{kind}(t([4, 3]), paddle.to_tensor([0, 0, 1, 3]))"
    calls["graph_reindex"] = (
        f"{_ROOM}.graph_reindex(paddle.to_tensor([0, 1, 2]), paddle.to_tensor([8, 9, 0, 4, 7, 6, 7]), "
        "paddle.to_tensor([2, 3, 2], dtype='int32'))"
    )
    calls["graph_sample_neighbors"] = (
        f"{_ROOM}.graph_sample_neighbors({_ROW}, {_STARTS}, paddle.to_tensor([0, 8, 1, 2]), sample_size=9)"
    )
    calls["graph_sample_neighbors/eids"] = (
        f"{_ROOM}.graph_sample_neighbors({_ROW}, {_STARTS}, paddle.to_tensor([0, 8]), "
        "paddle.arange(100, 113), None, 9, True)"
    )
    for nodes in ("[0, 8, 1, 2]", "[5, 3]", "[4]"):
        for sizes in ("[9]", "[9, 9]", "[9, 9, 9]"):
            calls[f"graph_khop_sampler/{nodes} {sizes}"] = (
                f"{_ROOM}.graph_khop_sampler({_ROW}, {_STARTS}, paddle.to_tensor({nodes}), {sizes})"
            )
        calls[f"graph_khop_sampler/eids {nodes}"] = (
            f"{_ROOM}.graph_khop_sampler({_ROW}, {_STARTS}, paddle.to_tensor({nodes}), [9, 9], "
            "paddle.arange(100, 113), True)"
        )
    calls["graph_khop_sampler/raises without eids"] = (
        f"{_ROOM}.graph_khop_sampler({_ROW}, {_STARTS}, paddle.to_tensor([0]), [9], None, True)"
    )
    calls["graph_reindex/raises without buffers"] = (
        f"{_ROOM}.graph_reindex(paddle.to_tensor([0]), paddle.to_tensor([8]), "
        "paddle.to_tensor([1], 'int32'), flag_buffer_hashtable=True)"
    )
    return calls


def _losses() -> dict[str, str]:
    calls = {
        "softmax_mask_fuse": f"{_ROOM}.softmax_mask_fuse(t([2, 3, 4, 4]), t([2, 1, 4, 4], seed=1) * 9)",
        "identity_loss/raises": f"{_ROOM}.identity_loss(t([3]), 'max')",
    }
    for kind in ("'none'", "'sum'", "'mean'", "0", "1", "2", "'MEAN'"):
        calls[f"identity_loss/{kind}"] = f"{_ROOM}.identity_loss(t([3, 4]), {kind})"
        calls[f"identity_loss/gradient {kind}"] = (
            f"grad(lambda x: {_ROOM}.identity_loss(x, {kind}), t([3, 4], 'float64'))"
        )
    return calls


_TRAIN = """\
layer = formula(nn.Linear(3, 2))
inner = {inner}
opt = {outer}
shown = []
for step in range({steps}):
    loss = ((layer(t([4, 3], seed=step)) - 1.0) ** 2).mean()
    loss.backward()
    inner.step() if inner is not opt and {average} else None
    opt.step()
    opt.clear_grad()
    shown.append([p.numpy() for p in layer.parameters()])
"""


def _optimizers() -> dict[str, str]:
    calls = {}
    sgd = "paddle.optimizer.SGD(0.1, layer.parameters())"
    adam = "paddle.optimizer.Adam(0.1, parameters=layer.parameters())"
    for inner in (sgd, adam):
        for arguments in ("", ", 0.2, 2", ", 1.0, 1", ", 0.0, 3", ", alpha=0.7, k=4, name='slow'"):
            body = _TRAIN.format(
                inner=inner, outer=f"{_ROOM}.LookAhead(inner{arguments})", steps=9, average=False
            )
            calls[f"LookAhead/{inner[17:21]}{arguments}"] = body + "[shown, opt.get_lr()]"
    minimize = _TRAIN.format(inner=sgd, outer=f"{_ROOM}.LookAhead(inner, k=2)", steps=5, average=False)
    calls["LookAhead/minimize"] = minimize.replace("    opt.step()\n", "    opt.minimize(loss)\n") + "shown"
    for wrong in ("None", "inner, 1.5", "inner, -0.1", "inner, 0.5, 0", "inner, 0.5, 2.0"):
        calls[f"LookAhead/raises for {wrong}"] = (
            f"layer = nn.Linear(2, 2)\ninner = {sgd}\n{_ROOM}.LookAhead({wrong})"
        )
    for window in (
        "0.15, layer.parameters(), 2, 10",
        "0.5, layer.parameters(), 1, 3",
        "1.0, layer.parameters()",
    ):
        body = _TRAIN.format(inner=sgd, outer=f"{_ROOM}.ModelAverage({window})", steps=12, average=True)
        calls[f"ModelAverage/{window}"] = (
            f"{body}with opt.apply():\n    shown.append([p.numpy() for p in layer.parameters()])\n"
            "shown.append([p.numpy() for p in layer.parameters()])\n"
            "with opt.apply(need_restore=False):\n    pass\n"
            "shown.append([p.numpy() for p in layer.parameters()])\nopt.restore()\n"
            "shown.append([p.numpy() for p in layer.parameters()])\nshown[-5:]"
        )
    return calls


_STATIC = """\
st = paddle.static
feed = [t([4, 3], seed=n).numpy() for n in range(6)]
weight = t([3, 2], seed=9).numpy()
paddle.enable_static()
main, start = st.Program(), st.Program()
try:
    with paddle.utils.unique_name.guard(), st.program_guard(main, start):
        x = st.data('x', [-1, 3])
        y = st.nn.fc(x, 2, weight_attr=paddle.ParamAttr('w', initializer=nn.initializer.Assign(weight)))
        loss = ((y - 1.0) ** 2).mean()
        {optimize}
    exe = st.Executor()
    exe.run(start)
    shown = [exe.run(main, {{'x': each}}, [loss]) for each in feed]
    {after}
finally:
    paddle.disable_static()
"""
_SHOW = "shown.append(np.array(st.global_scope().find_var('w').get_tensor()))"


def _static() -> dict[str, str]:
    ahead = "paddle.incubate.LookAhead(paddle.optimizer.SGD(0.1), 0.3, 2).minimize(loss)"
    average = "paddle.optimizer.SGD(0.1).minimize(loss)\n"
    average += "        avg = paddle.incubate.ModelAverage(0.5, None, 2, 4)"
    after = f"with avg.apply(exe):\n        {_SHOW}\n    {_SHOW}"
    return {
        "LookAhead/static": _STATIC.format(optimize=ahead, after=_SHOW) + "shown",
        "ModelAverage/static": _STATIC.format(optimize=average, after=after) + "shown",
    }


_FUNCTIONS = {
    "square": "lambda x: paddle.dot(x, x)",
    "bowl": "lambda x: (x[0] - 1) ** 2 + 5 * (x[1] + 2) ** 2 + 0.3 * (x[2] - 0.5) ** 2",
    "rosenbrock": "lambda x: (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()",
    "quartic": "lambda x: (x ** 4).sum() + x.sum()",
}


def _minimize() -> dict[str, str]:
    calls = {}
    for method in ("minimize_bfgs", "minimize_lbfgs"):
        run = f"found = {_ROOM}.optimizer.functional.{method}"
        for name, function in _FUNCTIONS.items():
            for dtype in ("float32", "float64"):
                start = f"x = t([3], '{dtype}', 4) * 2\n"
                for most in (1, 3):
                    calls[f"{method}/{name} {dtype} {most}"] = (
                        f"{start}{run}({function}, x, max_iters={most}, dtype='{dtype}')\nlist(found)"
                    )
                # How often it looks while it converges, and by how much it is wrong then, is rounding.
                if (name, dtype) == ("rosenbrock", "float32"):
                    continue  # it has not converged then
                calls[f"{method}/{name} {dtype}"] = (
                    f"{start}{run}({function}, x, max_iters=60, dtype='{dtype}')\n[found[2], found[3]]"
                )
        for arguments in (
            "initial_step_length=0.1", "max_line_search_iters=3", "tolerance_grad=0.5", "max_iters=0",
            "initial_inverse_hessian_estimate=paddle.eye(3, dtype='float64') * 0.3"
        ):
            most = "" if "max_iters" in arguments else "max_iters=2, "
            calls[f"{method}/{arguments}"] = (
                f"{run}({_FUNCTIONS['quartic']}, t([3], 'float64', 4), {most}dtype='float64', {arguments})\n"
                "list(found)"
            )
        for arguments in (
            "dtype='int32'", "line_search_fn='other'",
            "initial_inverse_hessian_estimate=paddle.to_tensor([[1.0, 2.0], [3.0, 1.0]])",
            "initial_inverse_hessian_estimate=paddle.to_tensor([[1.0, 2.0], [2.0, 1.0]])"
        ):
            calls[f"{method}/raises for {arguments}"] = (
                f"{_ROOM}.optimizer.functional.{method}({_FUNCTIONS['square']}, t([2]), {arguments})"
            )
    return calls


_PROGRAM = """\
st = paddle.static
feed = {{'x': t([3]).numpy(), 'w': t([3], seed=1).numpy(), 'v': t([3], seed=2).numpy()}}
paddle.enable_static()
main = st.Program()
try:
    with paddle.utils.unique_name.guard(), st.program_guard(main, st.Program()):
        x, w, v = (st.data(n, [3]) for n in 'xwv')
        x.stop_gradient = w.stop_gradient = False
        {before}
        y = paddle.tanh(x * w) * x
        out = {expression}
        got = st.Executor().run(main, feed, [out] if not isinstance(out, (list, tuple)) else list(out))
finally:
    {after}
    paddle.disable_static()
got
"""


def _programs() -> dict[str, str]:
    calls = {}
    for prim in (True, False):
        before = f"{_ROOM}.autograd.{'enable' if prim else 'disable'}_prim()"
        for expression in (
            "grad(y, x)", "grad([y], [x, w])", "grad(y, [x], v)", "grad(y, x, v)", "grad(grad(y, x), x)",
            "forward_grad(y, x)", "forward_grad(y, x, v)", "forward_grad([y], [x, w], [v, v])"
        ):
            called = expression.replace("grad(", f"{_ROOM}.autograd.grad(").replace(
                f"forward_{_ROOM}.autograd.grad(", f"{_ROOM}.autograd.forward_grad("
            )
            stopped = " of data" if prim and expression in ("grad(y, x)", "forward_grad(y, x, v)") else ""
            fails = " raises" if not prim and "forward" in expression else ""
            code = _PROGRAM.format(before=before, expression=called, after=f"{_ROOM}.autograd.disable_prim()")
            calls[f"autograd/{prim}{fails} {expression}"] = code
            if stopped:
                opened = "x.stop_gradient = w.stop_gradient = False"
                calls[f"autograd/{prim} {expression}{stopped}"] = code.replace(opened, "pass")
    return calls


_LAYERS = (
    "FusedTransformerEncoderLayer(4, 2, 8)", "FusedTransformerEncoderLayer(4, 2, 8, normalize_before=True)",
    "FusedMultiHeadAttention(4, 2, transpose_qkv_wb=True)", "FusedFeedForward(4, 8, normalize_before=True)",
    "FusedEcMoe(4, 8, 2, 'gelu')", "FusedLinear(2, 3)", "FusedLinear(2, 3, transpose_weight=True)",
    "FusedBiasDropoutResidualLayerNorm(4)", "FusedDropoutAdd()", "FusedLinear(2, 3, bias_attr=False)"
)


def _layers() -> dict[str, str]:
    calls = {
        f"nn/{layer}": (
            f"layer = {_ROOM}.nn.{layer}\n"
            "[[n, p.name, list(p.shape), str(p.dtype)] for n, p in layer.named_parameters()]"
        )
        for layer in _LAYERS
    }
    calls["nn/dropout add of nothing"] = (
        f"{_ROOM}.nn.functional.fused_dropout_add(t([3]), t([3], seed=1), 0.0)"
    )
    calls["nn/linear without bias"] = f"{_ROOM}.nn.functional.fused_linear(t([3, 4]), t([4, 2], seed=1))"
    calls["nn/signatures"] = (
        f"room = {_ROOM}.nn\n"
        "names = [n for n in sorted(room.functional.__all__) if n != 'block_multihead_attention']\n"
        "functions = [getattr(room.functional, n) for n in names]\n"
        "[signature(f) for f in functions] + "
        "[signature(getattr(room, n).__init__, method=True) for n in sorted(room.__all__)]"
    )
    for wrong in (
        "FusedMultiHeadAttention(5, 2)", "FusedMultiHeadAttention(0, 2)", "FusedEcMoe(4, 8, 2, 'tanh')",
        "FusedFeedForward(4, 0)", "FusedMultiTransformer(4, 2, 8)", "FusedBiasDropoutResidualLayerNorm(0)",
        "FusedMultiHeadAttention(4, 2, need_weights=True)", "FusedTransformerEncoderLayer(4, 0, 8)"
    ):
        calls[f"nn/raises for {wrong}"] = f"{_ROOM}.nn.{wrong}"
    return calls


CALLS: dict[str, str] = {
    **_graphs(),
    **_losses(),
    **_optimizers(),
    **_static(),
    **_minimize(),
    **_programs(),
    **_layers(),
    "names": f"[sorted({_ROOM}.__all__), sorted({_ROOM}.autograd.__all__), {_ROOM}.optimizer.__all__]",
    "signatures": (
        f"functions = [getattr({_ROOM}, n) for n in sorted({_ROOM}.__all__) if n[0].islower()]\n"
        f"classes = [{_ROOM}.LookAhead, {_ROOM}.ModelAverage, {_ROOM}.optimizer.LBFGS]\n"
        f"functional = {_ROOM}.optimizer.functional\n"
        f"functions += [functional.minimize_bfgs, functional.minimize_lbfgs]\n"
        f"functions += [{_ROOM}.autograd.forward_grad, {_ROOM}.autograd.grad]\n"
        "[signature(f) for f in functions] + [signature(c.__init__, method=True) for c in classes]"
    ),
}

TOLERANCES = {name: 1e-4 for name in CALLS if name.startswith("minimize_") and name.endswith(("32", "64"))}
