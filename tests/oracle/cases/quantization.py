"""Operators of quantization, applied by their names in a Program: values, thresholds, states, the text."""

_BEGIN = """\
from tests.oracle.applied import ODD, TIES, Applied, one, v
on = Applied(paddle)
"""
_LIMITS = {-1: "one(0.8)", 0: "one(0.9, 0.5, 1.1)", 1: "one(0.9, 0.5, 0.2, 1)"}
_BITS = "for b in (1, 2, 3, 4, 7, 8, 9, 12, 16)"
_ONE = "{'X': v(3), 'Scale': one(1), 'ZeroPoint': one(0)}, {'Y': ([3], 'float32')}"

_THREE = _ONE.replace("one(1)", "one(1, 2, 3)")


def _linear() -> dict[str, str]:
    calls = {}
    for axis, limits in _LIMITS.items():
        for kind in (0, 1):
            calls[f"quantize_linear/bits, type {kind}, axis {axis}"] = (
                f"[on.linear(v(3, 4), {limits}, quant_axis={axis}, bit_length=b, round_type={kind}) {_BITS}]"
            )
        for dtype, bits, wide in (("int8", "2, 5, 8", 127.0), ("float32", "9, 13, 16", 9999.0)):
            calls[f"dequantize_linear/bits, {dtype}, axis {axis}"] = (
                f"q = v(3, 4, wide={wide}).round().astype('{dtype}')\n"
                f"[on.linear(q, {limits}, 'dequantize_linear', quant_axis={axis}, bit_length=b) "
                f"for b in ({bits})]"
            )
    for kind in (0, 1):
        calls[f"quantize_linear/odd values and thresholds, type {kind}"] = (
            f"[on.linear(ODD, one(s), round_type={kind}) for s in (1, 0, 1e-31, np.inf, np.nan)]"
        )
    calls["dequantize_linear/odd values and thresholds"] = (
        "[on.linear(ODD, one(s), 'dequantize_linear') for s in (1, 0, 1e-31, np.inf, np.nan)]"
    )
    for name in ("quantize_linear", "dequantize_linear"):
        calls |= {
            f"{name}/text": f"on.apply('{name}', {_ONE}, {{'quant_axis': -1, 'bit_length': 4}}, text=True)",
            f"{name}/text of the defaults": f"on.apply('{name}', {_THREE}, {{}}, text=True)",
            f"{name}/gradient": f"on.apply('{name}', {_ONE}, {{'quant_axis': -1}}, 'Y')",
            f"{name}/only observer": f"on.linear(v(3, 4), one(0.5), '{name}', only_observer=True)",
            f"{name}/only observer of channels": (
                f"on.linear(v(3, 4), one(0.5, 0.7, 1), '{name}', quant_axis=0, only_observer=True)"
            ),
        }
        for what, attrs in (("0 bits", "bit_length=0"), ("17 bits", "bit_length=17"),
                            ("axis 2", "quant_axis=2"), ("rounding 2", "round_type=2")):
            calls[f"{name}/raises for {what}"] = f"on.linear(v(3, 4), one(1), '{name}', {attrs})"
    for axis, limits in ((0, "1, 1, 1"), (1, "1, 1, 1, 1")):
        calls[f"quantize_linear/found thresholds, axis {axis}"] = (
            f"given = {{'X': v(3, 4), 'Scale': one({limits}), 'ZeroPoint': one(0)}}\n"
            "outs = {'Y': ([3, 4], 'float32'), 'OutScale': 'Scale'}\n"
            f"attrs = {{'is_test': False, 'quant_axis': {axis}}}\n"
            "more = ({}, {'bit_length': 4, 'round_type': 1}, {'only_observer': True})\n"
            "[on.apply('quantize_linear', given, outs, dict(attrs, **m)) for m in more]"
        )
    return calls


_LINEAR = {
    **_linear(),
    "quantize_linear/four dimensions": "on.linear(v(2, 3, 2, 2), one(0.5, 0.7, 1), quant_axis=1)",
    "quantize_linear/weights": "on.linear(v(2, 3, 2, 2), one(0.5, 0.7), quant_axis=0)",
    "quantize_linear/three dimensions": "on.linear(v(2, 3, 4), one(0.5, 0.7, 1), quant_axis=1, round_type=1)",
    "quantize_linear/moving": "[on.moved(n) for n in (1, 2, 3)]",
    "quantize_linear/moving, 4 bits": "on.moved(2, bit_length=4, round_type=1)",
    "quantize_linear/moving, rate 0.5": "on.moved(2, moving_rate=0.5)",
    "quantize_linear/moving, text": "on.moved(text=True)",
    "quantize_linear/moving, only observer": "on.moved(2, only_observer=True)",
    "dequantize_linear/only observer of int8": (
        "on.linear(v(3, wide=9).astype('int8'), one(3), 'dequantize_linear', only_observer=True)"
    ),
    "dequantize_linear/float64 thresholds": (
        "on.linear(v(3, wide=99).astype('int8'), one(0.3, dtype='float64'), 'dequantize_linear')"
    ),
    "dequantize_linear/float16 thresholds": (
        "on.linear(v(3, wide=99).astype('int8'), one(0.3, dtype='float16'), 'dequantize_linear')"
    ),
    "dequantize_linear/float64 integers": (
        "on.linear(v(3, wide=99, dtype='float64').round(), one(0.3), 'dequantize_linear')"
    ),
}
_ABS_MAX = ("fake_quantize_abs_max", "fake_quantize_dequantize_abs_max")
_CHANNELS = ("fake_channel_wise_quantize_abs_max", "fake_channel_wise_quantize_dequantize_abs_max")
_OBSERVER = "moving_average_abs_max_scale"
_MOVING = (
    "fake_quantize_moving_average_abs_max",
    "fake_quantize_dequantize_moving_average_abs_max",
    _OBSERVER,
)


def _fake() -> dict[str, str]:
    calls = {}
    for name in (*_ABS_MAX, *_CHANNELS):
        size = 3 if name in _CHANNELS else 1
        x, rest = f"'{name}', v(3, 4)", f"size={size}"
        calls |= {
            f"{name}/bits": f"[on.fake({x}, {{'bit_length': b}}, {rest}) {_BITS}]",
            f"{name}/halves": f"[on.fake('{name}', TIES, a) for a in ({{}}, {{'round_type': 0}})]",
            f"{name}/zeros": f"on.fake('{name}', np.zeros([3, 2], 'float32'), {rest})",
            f"{name}/infinity": f"on.fake('{name}', one(1, np.inf, -2).reshape(1, 3))",
            f"{name}/nan in front": f"on.fake('{name}', one(np.nan, 1, -2).reshape(1, 3))",
            f"{name}/nan behind": f"on.fake('{name}', one(1, np.nan, -2).reshape(1, 3))",
            f"{name}/gradient": f"on.fake({x}, gradient='Out', {rest})",
            f"{name}/gradient, text": f"on.fake({x}, gradient='Out', text=True, {rest})",
            f"{name}/text": f"on.fake({x}, {{'round_type': 0}}, text=True, {rest})",
            f"{name}/thresholds kept": f"on.fake({x}, {{}}, v({size}, seed=2))",
        }
        for kind in (0, 1):
            calls[f"{name}/bits, type {kind}"] = (
                f"[on.fake({x}, {{'bit_length': b, 'round_type': {kind}}}, {rest}) {_BITS}]"
            )
        for bits in (0, 17):
            calls[f"{name}/raises for {bits} bits"] = f"on.fake({x}, {{'bit_length': {bits}}}, {rest})"
    for name in _CHANNELS:
        calls[f"{name}/four dimensions"] = (
            f"[on.fake('{name}', v(2, 3, 2, 2), {{'quant_axis': a}}, size=a + 2) for a in (0, 1)]"
        )
        for axis in (-1, 2):
            calls[f"{name}/raises for axis {axis}"] = (
                f"on.fake('{name}', v(2, 3, 4), {{'quant_axis': {axis}}}, size=4)"
            )
    calls[f"{_CHANNELS[0]}/test"] = f"on.fake('{_CHANNELS[0]}', v(3, 4), {{'is_test': True}}, one(0.5, 1, 0))"
    calls[f"{_CHANNELS[0]}/text of a test"] = (
        f"on.fake('{_CHANNELS[0]}', v(3, 4), {{'is_test': True}}, one(0.5, 1, 0), text=True)"
    )
    return calls


def _moving() -> dict[str, str]:
    calls = {}
    for name in _MOVING:
        calls |= {
            f"{name}/steps": f"[on.average('{name}', times=n) for n in (1, 2, 5)]",
            f"{name}/rate": f"[on.average('{name}', {{'moving_rate': r}}, times=3) for r in (0.0, 0.5, 1.0)]",
            f"{name}/test": f"on.average('{name}', {{'is_test': True}})",
            f"{name}/zeros": f"on.average('{name}', x=np.zeros([2, 2], 'float32'))",
            f"{name}/infinity": f"on.average('{name}', x=one(1, np.inf, -np.inf))",
            f"{name}/nan in front": f"on.average('{name}', x=one(np.nan, 1))",
            f"{name}/nan behind": f"on.average('{name}', x=one(1, np.nan))",
            f"{name}/nan in a test": f"on.average('{name}', {{'is_test': True}}, one(1, np.nan, np.inf))",
            f"{name}/gradient": f"on.average('{name}', gradient='Out')",
            f"{name}/gradient in a test": f"on.average('{name}', {{'is_test': True}}, gradient='Out')",
            f"{name}/gradient, text": f"on.average('{name}', gradient='Out', text=True)",
            f"{name}/text": f"on.average('{name}', text=True)",
            f"{name}/text of a test": f"on.average('{name}', {{'is_test': True}}, text=True)",
        }
        if name != _OBSERVER:
            for kind in (0, 1):
                attrs = f"{{'bit_length': b, 'round_type': {kind}, 'is_test': t}}"
                calls[f"{name}/bits, type {kind}"] = (
                    f"[on.average('{name}', {attrs}) {_BITS} for t in (False, True)]"
                )
            calls[f"{name}/raises for 17 bits"] = f"on.average('{name}', {{'bit_length': 17}})"
            calls[f"{name}/text with rounding"] = f"on.average('{name}', {{'round_type': 0}}, text=True)"
    return calls


_WINDOW = "fake_quantize_range_abs_max"
_RANGE = {
    f"{_WINDOW}/ring": (
        "[on.windowed(v(3, 4, wide=2.0), one(s), n, one(*r)) for s, n, r in ("
        "(0.5, 0, (0, 0, 0, 0)), (3, 5, (1, 3, 0.5, 2)), (3, 2, (1, 1, 3, 2)), (3, 5, (1, 2.5, 0.5, 2)), "
        "(3, 4, (3, 2.5, 0.5, 2)), (2.5, 7, (0.1, 0.2, 0.3, 2.5)))]"
    ),
    f"{_WINDOW}/steps": "on.windowed(v(3, 4), one(0.3), 0, one(0, 0), times=3)",
    f"{_WINDOW}/bits": (
        "[on.windowed(v(3, 4), one(0.3), 0, one(0, 0), {'bit_length': b, 'round_type': k}) "
        "for b in (1, 2, 4, 16) for k in (0, 1)]"
    ),
    f"{_WINDOW}/test": "on.windowed(v(3, 4), one(0.3), 0, one(0, 0), {'is_test': True})",
    f"{_WINDOW}/text": "on.windowed(v(3, 4), one(0.3), 0, one(0, 0), text=True)",
    f"{_WINDOW}/text of a test": (
        f"on.apply('{_WINDOW}', {{'X': v(3), 'InScale': one(1)}}, "
        "{'Out': ([3], 'float32'), 'OutScale': 'InScale'}, {'is_test': True}, text=True)"
    ),
    f"{_WINDOW}/gradient": "on.windowed(v(3, 4), one(0.3), 0, one(0, 0), gradient='Out')",
    f"{_WINDOW}/raises for 0 bits": "on.windowed(v(3, 4), one(0.3), 0, one(0, 0), {'bit_length': 0})",
}
_WHOLE = "'fake_dequantize_max_abs', {'X': v(3), 'Scale': one(0.3)}, {'Out': ([3], 'float32')}"
_PARTS = "fake_channel_wise_dequantize_max_abs"
_BACK = {
    "fake_dequantize_max_abs/values": (
        "[on.apply('fake_dequantize_max_abs', {'X': v(3, 4, wide=99, dtype=d).round(), "
        "'Scale': one(0.3, dtype=d)}, {'Out': ([3, 4], d)}, {'max_range': m}) "
        "for d in ('float32', 'float64') for m in (127.0, 7.0)]"
    ),
    "fake_dequantize_max_abs/text": f"on.apply({_WHOLE}, {{'max_range': 127.0}}, text=True)",
    "fake_dequantize_max_abs/gradient": f"on.apply({_WHOLE}, {{'max_range': 127.0}}, 'Out')",
    "fake_dequantize_max_abs/raises without a range": f"on.apply({_WHOLE}, {{}})",
    f"{_PARTS}/axis 0": "on.back(v(3, 4, wide=99).round(), [one(0.5, 1, 2)])",
    f"{_PARTS}/axis 1": "on.back(v(3, 4, wide=99.0), [one(0.5, 1, 2, 3)], quant_axis=1, quant_bits=[4])",
    f"{_PARTS}/four dimensions": "on.back(v(2, 3, 2, 2, wide=99).round(), [one(0.5, 1, 2)], quant_axis=1)",
    f"{_PARTS}/float64": "on.back(v(3, 4, dtype='float64'), [one(0.5, 1, 2, dtype='float64')])",
    f"{_PARTS}/a product": "on.back(v(3, 4, wide=9999.0), [one(0.5, 1, 2, 3), one(2)], quant_bits=[8, 4])",
    f"{_PARTS}/a product of a picture": (
        "on.back(v(2, 3, 2, 2, wide=9999.0), [one(0.5, 1, 2), one(2)], quant_bits=[8, 8])"
    ),
    f"{_PARTS}/columns": (
        "on.back(v(2, 3, 4, wide=9999.0), [one(0.5, 1, 2, 3), one(2)], quant_bits=[8, 8], x_num_col_dims=2)"
    ),
    f"{_PARTS}/text": ("on.back(v(3, 4), [one(1, 2, 3, 4), one(2)], True, quant_bits=[8, 4], quant_axis=1)"),
    f"{_PARTS}/raises for axis 2": "on.back(v(2, 3, 4), [one(0.5, 1, 2, 3)], quant_axis=2)",
    f"{_PARTS}/raises for too few": "on.back(v(3, 4), [one(0.5, 1)])",
    f"{_PARTS}/raises for too few of a product": "on.back(v(3, 4), [one(0.5, 1), one(2)], quant_bits=[8, 8])",
}

CALLS: dict[str, str] = {
    name: _BEGIN + body for name, body in {**_LINEAR, **_fake(), **_moving(), **_RANGE, **_BACK}.items()
}
