"""Operators of quantization, applied by their names in a Program: values, thresholds, states, the text."""

from textwrap import indent

_BEGIN = """\
paddle.enable_static()
static = paddle.static
def v(*shape, seed=0, dtype='float32', wide=1.0):
    size = int(np.prod(shape))
    return (np.round(np.sin(np.arange(size) * 1.7 + seed), 3) * wide).reshape(shape).astype(dtype)
def one(*values, dtype='float32'):
    return np.array(values, dtype)
odd = [0.1, -0.5, np.nan, np.inf, -np.inf, 0.0, -0.0, 3.0, -3.0, 1e-30, 2.5 / 127, 3.5 / 127]
odd = np.array(odd, 'float32')
def apply(type, inputs, outputs, attrs, gradient=None, text=False, times=1):
    # outputs: shape and dtype by slot, or the slot of the input that is replaced in place
    main, start = static.Program(), static.Program()
    guards = static.program_guard(main, start), static.scope_guard(static.Scope())
    with paddle.utils.unique_name.guard(), guards[0], guards[1]:
        block, feed, given, fetch = main.global_block(), {}, {}, []
        exe = static.Executor(paddle.CPUPlace())
        for slot, value in inputs.items():
            if slot in outputs.values():
                given[slot] = static.create_parameter(list(value.shape), str(value.dtype), slot)
                given[slot].trainable, given[slot].stop_gradient = False, True
            else:
                given[slot] = static.data(slot, list(value.shape), str(value.dtype))
                given[slot].stop_gradient = slot != 'X'
                feed[slot] = value
        made = {slot: given[kind] if isinstance(kind, str)
                else block.create_var(name='o' + slot, shape=kind[0], dtype=kind[1])
                for slot, kind in outputs.items()}
        block.append_op(type=type, inputs={slot: [g] for slot, g in given.items()},
                        outputs={slot: [m] for slot, m in made.items()}, attrs=attrs)
        fetch = list(made.values())
        if gradient:
            weight = static.data('weight', list(inputs['X'].shape), str(inputs['X'].dtype))
            feed['weight'] = v(*inputs['X'].shape, seed=5, dtype=str(inputs['X'].dtype))
            fetch += static.gradients(made[gradient], given['X'], weight)
            if len(fetch) == len(made) or fetch[-1] is None:
                return 'no gradient'
        if text:
            return [str(o) for o in block.ops] if gradient else str(main)
        exe.run(start)
        static.set_program_state(main, {given[s].name: a for s, a in inputs.items() if s in outputs.values()})
        for _ in range(times):
            found = exe.run(main, feed=feed, fetch_list=fetch)
        return found
def rounded(values, thresholds, type='quantize_linear', **attrs):
    attrs.setdefault('quant_axis', -1)
    dtype = 'float32' if type == 'quantize_linear' else str(thresholds.dtype)
    if attrs.get('only_observer'):
        dtype = str(values.dtype)
    given = {'X': values, 'Scale': thresholds, 'ZeroPoint': one(0)}
    return apply(type, given, {'Y': (list(values.shape), dtype)}, attrs)
def moved(type, times=1, text=False, **attrs):
    given = {'X': v(3, 4, wide=2.0), 'Scale': one(0.5), 'ZeroPoint': one(0)}
    given |= {'InAccum': one(1), 'InState': one(1)}
    outs = {'Y': ([3, 4], 'float32'), 'OutScale': 'Scale', 'OutState': 'InState', 'OutAccum': 'InAccum'}
    return apply(type, given, outs, {'is_test': False, 'quant_axis': -1, **attrs}, None, text, times)
"""


def _static(body: str) -> str:
    *before, last = body.strip().split("\n")
    inner = "\n".join([*before, f"return {last}"])
    return (
        f"{_BEGIN}def call():\n{indent(inner, '    ')}\n"
        "try:\n    found = call()\nfinally:\n    paddle.disable_static()\nfound"
    )


_THRESHOLDS = {-1: "one(0.8)", 0: "one(0.9, 0.5, 1.1)", 1: "one(0.9, 0.5, 0.2, 1)"}


def _linear() -> dict[str, str]:
    calls = {}
    for axis, limits in _THRESHOLDS.items():
        for kind in (0, 1):
            calls[f"quantize_linear/bits, type {kind}, axis {axis}"] = (
                f"[rounded(v(3, 4), {limits}, quant_axis={axis}, bit_length=b, round_type={kind}) "
                "for b in (1, 2, 3, 4, 7, 8, 9, 12, 16)]"
            )
        for dtype, bits, wide in (("int8", "2, 5, 8", 127.0), ("float32", "9, 13, 16", 9999.0)):
            calls[f"dequantize_linear/bits, {dtype}, axis {axis}"] = (
                f"q = v(3, 4, wide={wide}).round().astype('{dtype}')\n"
                f"[rounded(q, {limits}, 'dequantize_linear', quant_axis={axis}, bit_length=b) "
                f"for b in ({bits})]"
            )
    for kind in (0, 1):
        calls[f"quantize_linear/odd values and thresholds, type {kind}"] = (
            f"[rounded(odd, one(s), quant_axis=-1, round_type={kind}) for s in (1, 0, 1e-31, np.inf, np.nan)]"
        )
    calls["dequantize_linear/odd values and thresholds"] = (
        "[rounded(odd, one(s), 'dequantize_linear', quant_axis=-1) for s in (1, 0, 1e-31, np.inf, np.nan)]"
    )
    return calls


_LINEAR = {
    **_linear(),
    "quantize_linear/four dimensions": "rounded(v(2, 3, 2, 2), one(0.5, 0.7, 1), quant_axis=1)",
    "quantize_linear/weights": "rounded(v(2, 3, 2, 2), one(0.5, 0.7), quant_axis=0)",
    "quantize_linear/three dimensions": "rounded(v(2, 3, 4), one(0.5, 0.7, 1), quant_axis=1, round_type=1)",
    "quantize_linear/only observer": "rounded(v(3, 4), one(0.5), quant_axis=-1, only_observer=True)",
    "quantize_linear/only observer of channels": (
        "rounded(v(3, 4), one(0.5, 0.7, 1), quant_axis=0, only_observer=True)"
    ),
    "quantize_linear/moving": "moved('quantize_linear')",
    "quantize_linear/moving, 3 times": "moved('quantize_linear', 3)",
    "quantize_linear/moving, 4 bits": "moved('quantize_linear', 2, bit_length=4, round_type=1)",
    "quantize_linear/moving, rate 0.5": "moved('quantize_linear', 2, moving_rate=0.5)",
    "quantize_linear/moving, text": "moved('quantize_linear', text=True)",
    "quantize_linear/moving, only observer": "moved('quantize_linear', 2, only_observer=True)",
    **{
        f"quantize_linear/found thresholds, axis {axis}": (
            f"given = {{'X': v(3, 4), 'Scale': one({limits}), 'ZeroPoint': one(0)}}\n"
            "outs = {'Y': ([3, 4], 'float32'), 'OutScale': 'Scale'}\n"
            f"apply('quantize_linear', given, outs, {{'is_test': False, 'quant_axis': {axis}{more}}})"
        )
        for axis, limits in ((0, "1, 1, 1"), (1, "1, 1, 1, 1"))
        for more in ("", ", 'bit_length': 4, 'round_type': 1")
        if not more or axis
    },
    "quantize_linear/gradient": (
        "apply('quantize_linear', {'X': v(3), 'Scale': one(1), 'ZeroPoint': one(0)}, "
        "{'Y': ([3], 'float32')}, {'quant_axis': -1}, 'Y')"
    ),
    "quantize_linear/text": (
        "apply('quantize_linear', {'X': v(3), 'Scale': one(1), 'ZeroPoint': one(0)}, "
        "{'Y': ([3], 'float32')}, {'quant_axis': -1, 'bit_length': 4}, text=True)"
    ),
    "dequantize_linear/text": (
        "apply('dequantize_linear', {'X': v(3), 'Scale': one(1), 'ZeroPoint': one(0)}, "
        "{'Y': ([3], 'float32')}, {'quant_axis': -1}, text=True)"
    ),
    "dequantize_linear/gradient": (
        "apply('dequantize_linear', {'X': v(3), 'Scale': one(1), 'ZeroPoint': one(0)}, "
        "{'Y': ([3], 'float32')}, {'quant_axis': -1}, 'Y')"
    ),
    "dequantize_linear/only observer": (
        "rounded(v(3, wide=9).astype('int8'), one(3), 'dequantize_linear', only_observer=True)"
    ),
    "dequantize_linear/float64 thresholds": (
        "rounded(v(3, wide=99).astype('int8'), one(0.3, dtype='float64'), 'dequantize_linear')"
    ),
    "dequantize_linear/float16 thresholds": (
        "rounded(v(3, wide=99).astype('int8'), one(0.3, dtype='float16'), 'dequantize_linear')"
    ),
    "dequantize_linear/float64 integers": (
        "rounded(v(3, wide=99, dtype='float64').round(), one(0.3), 'dequantize_linear')"
    ),
    **{
        f"{name}/raises for {what}": f"rounded(v(3, 4), one(1), '{name}', {attrs})"
        for name in ("quantize_linear", "dequantize_linear")
        for what, attrs in (
            ("0 bits", "bit_length=0"),
            ("17 bits", "bit_length=17"),
            ("axis 2", "quant_axis=2"),
            ("rounding 2", "round_type=2"),
        )
    },
}

CALLS: dict[str, str] = {name: _static(body) for name, body in _LINEAR.items()}
