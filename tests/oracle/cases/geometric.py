"""Learning on graphs: messages along edges, segments, nodes numbered anew, neighbours."""

_ROOM = "paddle.geometric"
_IDS = ("[0, 0, 1, 1, 1]", "[0, 0, 0, 0, 0]", "[0, 1, 2, 3, 4]", "[0, 2, 2, 5, 5]", "[1, 1, 2, 2, 2]")
_SIZES = ("0", "-1", "4", "7", "paddle.to_tensor([5])", "paddle.to_tensor(6, 'int32')", "np.int64(5)")
_NODES_AND_EDGES = (
    ("[4]", "[6]"), ("[4, 3]", "[6]"), ("[4, 2, 3]", "[6, 3]")
)
_TWO_NODES = (
    ("[4]", "[4]"), ("[4, 3]", "[4, 3]"), ("[4, 3]", "[4, 1]"), ("[4]", "[4, 3]"), ("[4, 2, 3]", "[5, 3]")
)
_SRC, _DST = "paddle.to_tensor([0, 1, 2, 0, 3, 2])", "paddle.to_tensor([1, 2, 1, 0, 1, 3])"


def _segments() -> dict[str, str]:
    calls = {}
    for name in ("segment_sum", "segment_mean", "segment_min", "segment_max"):
        for ids in (
            "[0, 0, 1, 1, 1]",
            "[0, 0, 0, 0, 0]",
            "[0, 1, 2, 3, 4]",
            "[0, 2, 2, 5, 5]",
            "[1, 1, 2, 2, 2]",
        ):
            for shape in ("[5]", "[5, 2, 2]"):
                calls[f"{name}/{shape} {ids}"] = f"{_ROOM}.{name}(t({shape}), paddle.to_tensor({ids}))"
                calls[f"{name}/gradient {shape} {ids}"] = (
                    f"grad(lambda x: {_ROOM}.{name}(x, paddle.to_tensor({ids})), t({shape}, 'float64'))"
                )
        for dtype in ("int32", "int64", "float64"):
            calls[f"{name}/{dtype}"] = (
                f"{_ROOM}.{name}(ints([5, 2], 9, '{dtype}') - 4, paddle.to_tensor([0, 0, 1, 1, 1], 'int32'))"
                if dtype != "float64"
                else f"{_ROOM}.{name}(t([5, 2], 'float64'), paddle.to_tensor([0, 0, 1, 1, 1], 'int32'))"
            )
        calls[f"{name}/ties"] = (
            f"grad(lambda x: {_ROOM}.{name}(x, paddle.to_tensor([0, 0, 0])), paddle.ones([3, 2]))"
        )
        calls[f"{name}/raises for falling numbers"] = (
            f"{_ROOM}.{name}(t([3, 2]), paddle.to_tensor([1, 0, 1]))"
        )
    return calls


def _messages() -> dict[str, str]:
    calls = {}
    for reduce in ("sum", "mean", "max", "min"):
        for shape in ("[4]", "[4, 3]", "[4, 2, 2]"):
            call = f"{_ROOM}.send_u_recv({{x}}, {_SRC}, {_DST}, '{reduce}')"
            calls[f"send_u_recv/{reduce} {shape}"] = call.format(x=f"t({shape})")
            calls[f"send_u_recv/gradient {reduce} {shape}"] = (
                f"grad(lambda x: {call.format(x='x')}, t({shape}, 'float64'))"
            )
        for size in (
            "0",
            "-1",
            "4",
            "7",
            "paddle.to_tensor([5])",
            "paddle.to_tensor(6, 'int32')",
            "np.int64(5)",
        ):
            calls[f"send_u_recv/{reduce} out_size {size}"] = (
                f"{_ROOM}.send_u_recv(t([4, 2]), {_SRC}, {_DST}, '{reduce}', out_size={size})"
            )
        for dtype in ("int32", "int64", "float64"):
            calls[f"send_u_recv/{reduce} {dtype}"] = (
                f"{_ROOM}.send_u_recv((t([4, 2]) * 9).astype('{dtype}'), {_SRC}.astype('int32'), "
                f"{_DST}.astype('int32'), '{reduce}')"
            )
        calls[f"send_u_recv/ties {reduce}"] = (
            f"grad(lambda x: {_ROOM}.send_u_recv(x, {_SRC}, {_DST}, '{reduce}'), paddle.ones([4, 2]))"
        )
        for message in ("add", "sub", "mul", "div"):
            for x, y in _NODES_AND_EDGES:
                call = f"{_ROOM}.send_ue_recv({{x}}, {{y}}, {_SRC}, {_DST}, '{message}', '{reduce}')"
                calls[f"send_ue_recv/{message} {reduce} {x} {y}"] = call.format(
                    x=f"t({x})", y=f"pos({y}, seed=1)"
                )
                calls[f"send_ue_recv/gradient {message} {reduce} {x} {y}"] = (
                    f"grad(lambda x, y: {call.format(x='x', y='y')}, t({x}, 'float64'), "
                    f"pos({y}, 'float64', seed=1))"
                )
        calls[f"send_ue_recv/{reduce} out_size"] = (
            f"{_ROOM}.send_ue_recv(t([4, 2]), t([6, 2], seed=1), {_SRC}, {_DST}, "
            f"reduce_op='{reduce}', out_size=6)"
        )
    for message in ("add", "sub", "mul", "div"):
        for x, y in _TWO_NODES:
            call = f"{_ROOM}.send_uv({{x}}, {{y}}, {_SRC}, {_DST}, '{message}')"
            calls[f"send_uv/{message} {x} {y}"] = call.format(x=f"t({x})", y=f"pos({y}, seed=1)")
            calls[f"send_uv/gradient {message} {x} {y}"] = (
                f"grad(lambda x, y: {call.format(x='x', y='y')}, t({x}, 'float64'), "
                f"pos({y}, 'float64', seed=1))"
            )
    for call in (
        f"send_u_recv(t([4]), {_SRC}, {_DST}, 'prod')",
        f"send_ue_recv(t([4]), t([6]), {_SRC}, {_DST}, 'pow')",
        f"send_ue_recv(t([4]), t([6]), {_SRC}, {_DST}, 'add', 'prod')",
        f"send_uv(t([4]), t([4]), {_SRC}, {_DST}, 'pow')"
    ):
        calls[f"raises for {call}"] = f"{_ROOM}.{call}"
    return calls


_ROW = "paddle.to_tensor([3, 7, 0, 9, 1, 4, 2, 9, 3, 9, 1, 9, 7], dtype='{dtype}')"
_STARTS = "paddle.to_tensor([0, 2, 4, 5, 6, 7, 9, 11, 11, 13, 13], dtype='{dtype}')"
_NODES = "paddle.to_tensor([0, 8, 1, 2], dtype='{dtype}')"


def _sampling() -> dict[str, str]:
    calls = {}
    for dtype in ("int32", "int64"):
        x = f"paddle.to_tensor([0, 1, 2], dtype='{dtype}')"
        one = f"paddle.to_tensor([8, 9, 0, 4, 7, 6, 7], dtype='{dtype}')"
        other = f"paddle.to_tensor([0, 2, 3, 5, 1], dtype='{dtype}')"
        counts = [f"paddle.to_tensor({c}, dtype='int32')" for c in ([2, 3, 2], [1, 3, 1])]
        calls[f"reindex_graph/{dtype}"] = f"{_ROOM}.reindex_graph({x}, {one}, {counts[0]})"
        calls[f"reindex_graph/{dtype} other"] = f"{_ROOM}.reindex_graph({x}, {other}, {counts[1]}, name='r')"
        calls[f"reindex_heter_graph/{dtype}"] = (
            f"{_ROOM}.reindex_heter_graph({x}, [{one}, {other}], [{counts[0]}, {counts[1]}])"
        )
        graph = [part.format(dtype=dtype) for part in (_ROW, _STARTS)]
        nodes = _NODES.format(dtype=dtype)
        eids = f"paddle.arange(100, 113, dtype='{dtype}')"
        weights = "pos([13])"
        for size in (", 2", ", 9"):  # without a size Paddle's kernel for the CPU fails
            calls[f"sample_neighbors/{dtype}{size}"] = (
                f"{_ROOM}.sample_neighbors({graph[0]}, {graph[1]}, {nodes}{size})"
            )
            calls[f"weighted_sample_neighbors/{dtype}{size}"] = (
                f"{_ROOM}.weighted_sample_neighbors({graph[0]}, {graph[1]}, {weights}, {nodes}{size})"
            )
        calls[f"sample_neighbors/{dtype} eids"] = (
            f"{_ROOM}.sample_neighbors({graph[0]}, {graph[1]}, {nodes}, 9, {eids}, return_eids=True)"
        )
        calls[f"sample_neighbors/{dtype} one each"] = (
            f"out, count = {_ROOM}.sample_neighbors({graph[0]}, {graph[1]}, {nodes}, 1)\n"
            "[out.shape, str(out.dtype), count]"
        )
        calls[f"weighted_sample_neighbors/{dtype} eids"] = (
            f"{_ROOM}.weighted_sample_neighbors({graph[0]}, {graph[1]}, {weights}, {nodes}, 2, {eids}, True)"
        )
    for name, more in (("sample_neighbors", ""), ("weighted_sample_neighbors", "pos([13]), ")):
        graph = [part.format(dtype="int64") for part in (_ROW, _STARTS, _NODES)]
        calls[f"{name}/raises without eids"] = (
            f"{_ROOM}.{name}({graph[0]}, {graph[1]}, {more}{graph[2]}, return_eids=True)"
        )
    return calls


_STATIC = """\
st = paddle.static
feed = {{'x': t([4, 2]).numpy(), 'src': np.array([0, 1, 2, 0]), 'dst': np.array([1, 2, 2, 3])}}
paddle.enable_static()
main = st.Program()
try:
    with paddle.utils.unique_name.guard(), st.program_guard(main, st.Program()):
        x, src, dst = st.data('x', [-1, 2]), st.data('src', [-1], 'int64'), st.data('dst', [-1], 'int64')
        x.stop_gradient = False
        out = {expression}
        got = st.Executor().run(main, feed, [out, *st.gradients([out], [x])])
finally:
    paddle.disable_static()
got
"""


def _static() -> dict[str, str]:
    return {
        f"static/{expression}": _STATIC.format(expression=expression)
        for expression in (
            f"{_ROOM}.segment_mean(x, dst)",
            f"{_ROOM}.send_u_recv(x, src, dst, 'max')",
            f"{_ROOM}.send_u_recv(x, src, dst, out_size=6)",
            f"{_ROOM}.send_ue_recv(x, x, src, dst, 'mul', 'mean')",
            f"{_ROOM}.send_uv(x, x, src, dst, 'sub')",
        )
    }


CALLS: dict[str, str] = {
    **_segments(),
    **_messages(),
    **_sampling(),
    **_static(),
    "names": "sorted(paddle.geometric.__all__)",
    "signatures": "[signature(getattr(paddle.geometric, n)) for n in sorted(paddle.geometric.__all__)]",
}
