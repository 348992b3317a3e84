"""Elementwise mathematics: trigonometry, exponentials, rounding, choosing, repairing."""

# Domain: the argument in terms of t(...), which lies in (-1, 1).
_UNARY = {
    "abs": "{}", "acos": "{}", "acosh": "{} + 2.5", "angle": "{}", "asin": "{}", "asinh": "{}", "atan": "{}",
    "atanh": "{}", "ceil": "{} * 5", "conj": "{}", "cos": "{}", "cosh": "{}", "deg2rad": "{} * 90",
    "exp": "{}", "expm1": "{}", "floor": "{} * 5", "frac": "{} * 5", "log": "{} + 1.5", "log10": "{} + 1.5",
    "log1p": "{}", "log2": "{} + 1.5", "neg": "{}", "rad2deg": "{}", "reciprocal": "{} + 2",
    "round": "{} * 5", "rsqrt": "{} + 1.5", "sgn": "{}", "sign": "{}", "sin": "{}", "sinh": "{}",
    "sqrt": "{} + 1.5", "square": "{}", "stanh": "{}", "tan": "{}", "tanh": "{}", "trunc": "{} * 5",
    "nan_to_num": "{}"
}
_BINARY = ("add", "subtract", "multiply", "divide", "maximum", "minimum", "fmax", "fmin", "atan2", "hypot",
           "logaddexp", "heaviside", "remainder", "floor_divide", "pow")
# Those that Paddle gives no gradient, or none that broadcasts right.
_NO_GRADIENT = ("remainder", "floor_divide")
_NO_BROADCAST = ("atan2",)
_INTEGERS = ("abs", "conj", "deg2rad", "exp", "expm1", "frac", "log", "log10", "log1p", "log2", "neg",
             "rad2deg", "square", "trunc", "sign")
_SPECIAL = "paddle.to_tensor([float('nan'), float('inf'), -float('inf'), 0.0, -0.0])"


def _unary() -> dict[str, str]:
    calls = {}
    for name, domain in _UNARY.items():
        for shape in ("[2, 3]", "[]"):
            calls[f"{name}/{shape}"] = f"paddle.{name}({domain.format(f't({shape})')})"
        double = domain.format("t([4], 'float64')")
        calls[f"{name}/float64"] = f"paddle.{name}({double})"
        calls[f"{name}/gradient"] = (
            f"grad(lambda x: paddle.{name}({domain.format('x')}), t([2, 3], 'float64'))"
        )
        calls[f"{name}/special values"] = f"paddle.{name}({_SPECIAL})"
        calls[f"{name}/method"] = f"({domain.format('t([3])')}).{name}()"
    for name in _INTEGERS:
        calls[f"{name}/int64"] = f"paddle.{name}(ints([4], 9) + 1)"
        calls[f"{name}/int32"] = f"paddle.{name}(ints([4], 9, 'int32') + 1)"
    return calls


def _binary() -> dict[str, str]:
    calls = {}
    for name in _BINARY:
        x, y = ("pos({})", "t({}, seed=1)") if name == "pow" else ("t({})", "t({}, seed=1)")
        for a, b in (("[2, 3]", "[2, 3]"), ("[]", "[]"), ("[2, 1]", "[3]"), ("[2, 3]", "[]")):
            if name in _NO_BROADCAST and a != b:
                continue
            calls[f"{name}/{a}, {b}"] = f"paddle.{name}({x.format(a)}, {y.format(b)})"
            if name not in _NO_GRADIENT:
                code = f"grad(paddle.{name}, {x.format(a)}, {y.format(b)})"
                calls[f"{name}/gradient {a}, {b}"] = code
        calls[f"{name}/float64"] = f"paddle.{name}(pos([3], 'float64'), pos([3], 'float64', seed=1))"
        if name not in ("hypot", "pow"):
            calls[f"{name}/int64"] = f"paddle.{name}(ints([4], 9) + 1, ints([4], 9, seed=2) + 1)"
        calls[f"{name}/method"] = f"pos([3]).{name}(pos([3], seed=1))"
        if name not in _NO_BROADCAST:
            calls[f"{name}/raises for shapes"] = f"paddle.{name}(t([2, 3]), t([2]))"
    return calls


CALLS: dict[str, str] = {
    **_unary(),
    **_binary(),
    "maximum/ties": "grad(paddle.maximum, paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 3.0]))",
    "minimum/ties": "grad(paddle.minimum, paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 3.0]))",
    "fmax/ties": "grad(paddle.fmax, paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 3.0]))",
    "fmin/ties": "grad(paddle.fmin, paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 3.0]))",
    "fmax/nan": f"paddle.fmax({_SPECIAL}, paddle.to_tensor([1.0, 1.0, 1.0, float('nan'), 1.0]))",
    "fmin/nan": f"paddle.fmin({_SPECIAL}, paddle.to_tensor([1.0, 1.0, 1.0, float('nan'), 1.0]))",
    "maximum/nan": f"paddle.maximum({_SPECIAL}, paddle.to_tensor([1.0, 1.0, 1.0, float('nan'), 1.0]))",
    "heaviside/zeros": "grad(paddle.heaviside, paddle.to_tensor([0.0, 1.0, -1.0]), t([3]))",
    "heaviside/value at 0": "paddle.heaviside(paddle.to_tensor([0.0, 1.0, -1.0]), paddle.to_tensor([0.5]))",
    "heaviside/nan": f"paddle.heaviside({_SPECIAL}, paddle.ones([5]))",
    "stanh/scales": "paddle.stanh(t([3]), scale_a=0.3, scale_b=2.0)",
    "stanh/gradient with scales": "grad(lambda x: paddle.stanh(x, 0.3, 2.0), t([3]))",
    "ldexp/": "paddle.ldexp(t([3]), ints([3], 5))",
    "ldexp/int64": "paddle.ldexp(ints([3], 5), ints([3], 5, seed=1))",
    "ldexp/broadcast": "paddle.ldexp(t([2, 1]), ints([3], 5, 'int32'))",
    "ldexp/gradient": "grad(lambda x: paddle.ldexp(x, paddle.to_tensor([1, 2, 3])), t([3]))",
    "frexp/": "paddle.frexp(t([2, 3]) * 100)",
    "frexp/float64": "paddle.frexp(t([4], 'float64') * 1e-5)",
    "frexp/zero and powers": "paddle.frexp(paddle.to_tensor([0.0, 1.0, 8.0, -0.5]))",
    "frexp/gradient": "grad(lambda x: paddle.frexp(x)[0], t([3]) * 10)",
    "frexp/raises for int64": "paddle.frexp(ints([3], 5))",
    "lerp/number": "paddle.lerp(t([2, 3]), t([2, 3], seed=1), 0.3)",
    "lerp/tensor": "paddle.lerp(t([2, 3]), t([2, 3], seed=1), pos([3]))",
    "lerp/broadcast": "paddle.lerp(t([2, 1]), t([3], seed=1), 0.8)",
    "lerp/gradient": "grad(lambda x, y: paddle.lerp(x, y, 0.3), t([2, 3]), t([3], seed=1))",
    "lerp/method": "t([3]).lerp(t([3], seed=1), 0.5)",
    "nan_to_num/values": f"paddle.nan_to_num({_SPECIAL}, nan=1.0, posinf=2.0, neginf=-3.0)",
    "nan_to_num/float64": f"paddle.nan_to_num({_SPECIAL}.astype('float64'))",
    "nan_to_num/gradient at nan": f"grad(paddle.nan_to_num, {_SPECIAL})",
    "nan_to_num/raises for int64": "paddle.nan_to_num(ints([3], 5))",
    "nextafter/": "paddle.nextafter(t([4]), t([4], seed=1))",
    "nextafter/float64": "paddle.nextafter(t([4], 'float64'), t([4], 'float64', seed=1))",
    "multiplex/": (
        "paddle.multiplex([t([3, 2]), t([3, 2], seed=1)], paddle.to_tensor([[1], [0], [1]], dtype='int32'))"
    ),
    "multiplex/3-d": (
        "paddle.multiplex([t([2, 2, 2], seed=n) for n in range(3)], ints([2, 1], 3, 'int32', seed=1))"
    ),
    "multiplex/gradient": (
        "grad(lambda x, y: paddle.multiplex([x, y], paddle.to_tensor([[1], [0], [1]], dtype='int32')), "
        "t([3, 2]), t([3, 2], seed=1))"
    ),
    "multiplex/raises for range": (
        "paddle.multiplex([t([1, 2]), t([1, 2])], paddle.to_tensor([[2]], dtype='int32'))"
    ),
    "multiplex/raises for shapes": (
        "paddle.multiplex([t([2, 2]), t([2, 3])], paddle.to_tensor([[0], [1]], dtype='int32'))"
    ),
    "add_n/": "paddle.add_n([t([2, 3], seed=n) for n in range(3)])",
    "add_n/one": "paddle.add_n(t([3]))",
    "add_n/gradient": "grad(lambda x, y: paddle.add_n([x, y, x]), t([3]), t([3], seed=1))",
    "clip/": "paddle.clip(t([2, 3]), -0.3, 0.4)",
    "clip/min": "paddle.clip(t([2, 3]), min=0.1)",
    "clip/max": "paddle.clip(t([2, 3]), max=0.1)",
    "clip/tensors": "paddle.clip(t([4]), paddle.to_tensor([-0.2]), paddle.to_tensor([0.2]))",
    "clip/int64": "paddle.clip(ints([5], 9), 2, 6)",
    "clip/gradient at limits": (
        "grad(lambda x: paddle.clip(x, 0.0, 1.0), paddle.to_tensor([0.0, 0.5, 1.0, 2.0]))"
    ),
    "clip/0-d": "paddle.clip(t([]), 0.0, 1.0)",
    "clip/empty": "paddle.clip(paddle.zeros([0, 3]), 0.0, 1.0)",
    "scale/": "paddle.scale(t([3]), 2.0, 0.5)",
    "scale/bias first": "paddle.scale(t([3]), 2.0, 0.5, bias_after_scale=False)",
    "scale/int64": "paddle.scale(ints([3], 5), 2.0, 1.0)",
    "increment/": "x = paddle.to_tensor([1.0])\ny = paddle.increment(x, 2.0)\n[x, y]",
    "increment/raises for two": "paddle.increment(paddle.ones([2]))",
    "abs/complex": "paddle.abs(t([3], 'complex64'))",
    "sgn/complex": "paddle.sgn(t([3], 'complex128'))",
    "angle/complex": "paddle.angle(t([3], 'complex64'))",
    "angle/negative": "paddle.angle(paddle.to_tensor([-1.0, 0.0, 2.0]))",
    "conj/complex": "paddle.conj(t([3], 'complex64'))",
    "real/": "paddle.real(t([2, 2], 'complex64'))",
    "imag/": "paddle.imag(t([2, 2], 'complex128'))",
    "real/raises for real": "paddle.real(t([3]))",
    "complex/": "paddle.complex(t([2, 3]), t([3], seed=1))",
    "complex/float64": "paddle.complex(t([], 'float64'), t([], 'float64', seed=1))",
    "complex/raises for int64": "paddle.complex(ints([2], 3), ints([2], 3))",
    "polar/": "paddle.polar(pos([2, 3]), t([2, 3]) * 3)",
    "as_complex/": "paddle.as_complex(t([3, 2]))",
    "as_complex/float64": "paddle.as_complex(t([2], 'float64'))",
    "as_complex/raises for shape": "paddle.as_complex(t([3]))",
    "as_real/": "paddle.as_real(t([2, 2], 'complex64'))",
    "complex/gradient of abs": "grad(lambda x, y: paddle.abs(paddle.complex(x, y)), t([3]), t([3], seed=1))",
    "complex/gradient of product": (
        "grad(lambda x, y: paddle.real(paddle.complex(x, y) * paddle.complex(y, x * x)), "
        "t([3]), t([3], seed=1))"
    ),
    "complex/gradient of quotient": (
        "grad(lambda x, y: paddle.as_real(paddle.complex(x, y) / paddle.complex(y + 2, x)), "
        "t([3]), t([3], seed=1))"
    ),
    "complex/gradient of matmul": (
        "grad(lambda x, y: paddle.as_real(paddle.matmul(paddle.complex(x, y), paddle.complex(y, x))), "
        "t([2, 2]), t([2, 2], seed=1))"
    ),
    "is_complex/": "[paddle.is_complex(t([2], d)) for d in ('float32', 'complex64', 'complex128', 'int64')]",
    "is_floating_point/": (
        "[paddle.is_floating_point(t([2], d)) for d in ('float16', 'float64', 'int32', 'complex64')]"
    ),
    "is_integer/": (
        "[paddle.is_integer(t([2], d)) for d in ('uint8', 'int64', 'float32')] + "
        "[paddle.is_integer(bools([2]))]"
    ),
    "is_complex/raises for a number": "paddle.is_complex(1)",
    "abs/raises for a number": "paddle.abs(1.0)",
    "rank/": "paddle.rank(t([2, 3]))"
}
