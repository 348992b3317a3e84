"""Functions of one and of two tensors, element by element: values, dtypes, gradients, in-place forms."""


def _words(names: str) -> list[str]:
    return names.split()


# name -> what it is given: any value, positive ones, or those inside (-1, 1)
_ANY = _words(
    "abs asinh atan ceil cos cosh deg2rad digamma erf exp expm1 floor frac i0 i0e i1 i1e lgamma neg rad2deg "
    "round sgn sign sin sinh square stanh tan tanh trunc"
)
_POSITIVE = _words("log log10 log1p log2 rsqrt sqrt reciprocal")
_INSIDE = _words("acos asin atanh erfinv")
_NO_GRADIENT = {"sgn"}
_INPLACE = _words(
    "abs acos asin atan ceil cos cosh digamma exp floor frac i0 lgamma log log10 log1p log2 neg "
    "reciprocal round rsqrt sin sinh sqrt tan tanh trunc sigmoid atanh asinh"
)
_BINARY = {
    "add": "t", "subtract": "t", "multiply": "t", "divide": "pos", "maximum": "t", "minimum": "t",
    "fmax": "t", "fmin": "t", "atan2": "t", "hypot": "t", "logaddexp": "t", "pow": "pos", "heaviside": "t",
    "nextafter": "t", "floor_divide": "pos", "remainder": "pos", "mod": "pos", "floor_mod": "pos"
}
_SMOOTH = ("add", "subtract", "multiply", "divide", "maximum", "fmax", "pow")
_WHOLE = ("add", "subtract", "multiply", "maximum", "minimum", "floor_divide", "remainder", "gcd", "lcm")
_COMPARE = ("equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal")
_LOGIC = ("logical_and", "logical_or", "logical_xor")
_BITS = ("bitwise_and", "bitwise_or", "bitwise_xor")


def _given(name: str) -> str:
    if name in _POSITIVE:
        return "pos([2, 3])"
    return "t([2, 3])" if name in _INSIDE else "t([2, 3]) * 4"


_UNARY = {name: _given(name) for name in [*_ANY, *_POSITIVE, *_INSIDE]} | {
    "acosh": "pos([2, 3]) + 1.5", "logit": "pos([2, 3]) / 1.2", "digamma": "pos([2, 3])",
    "lgamma": "pos([2, 3])"
}

CALLS: dict[str, str] = {
    **{name: f"paddle.{name}({given})" for name, given in _UNARY.items()},
    **{
        f"{name}/float64": f"paddle.{name}(({given}).astype('float64'))"
        for name, given in _UNARY.items()
        if name in ("exp", "log", "sin", "sqrt", "tanh", "lgamma", "erf", "expm1", "log1p", "cosh", "round")
    },
    **{f"{name}/0-d": f"paddle.{name}(paddle.to_tensor(0.5))" for name in ("exp", "abs", "sin", "floor")},
    **{
        f"{name}/gradient": f"grad(paddle.{name}, {given})"
        for name, given in _UNARY.items()
        if name not in _NO_GRADIENT
    },
    **{f"{name}_": f"x = pos([3]) / 1.2\ny = x.{name}_()\n(x, y is x)" for name in _INPLACE},
    **{f"Tensor.{name}": f"(pos([3]) / 1.2).{name}()" for name in ("exp", "log2", "erf", "lgamma", "trunc")},
    **{name: f"paddle.{name}(t([2, 3]), {other}([2, 3], seed=1))" for name, other in _BINARY.items()},
    **{
        f"{name}/broadcast": f"paddle.{name}({'pos' if name == 'pow' else 't'}([2, 1]), {other}([3], seed=1))"
        for name, other in _BINARY.items()
        if name not in ("atan2", "nextafter")
    },
    **{
        f"{name}/gradient": (
            f"grad(paddle.{name}, {'pos' if name == 'pow' else 't'}([2, 1]), {_BINARY[name]}([2, 3], seed=1))"
        )
        for name in _SMOOTH
    },
    **{f"{name}/whole": f"paddle.{name}(ints([5], 9) + 1, ints([5], 5, seed=1) + 1)" for name in _WHOLE},
    **{f"{name}": f"paddle.{name}(ints([5], 3), ints([5], 3, seed=1))" for name in _COMPARE},
    **{f"{name}/broadcast": f"paddle.{name}(t([2, 1]), t([3], seed=1))" for name in _COMPARE},
    **{name: f"paddle.{name}(bools([4]), bools([4], seed=1))" for name in _LOGIC},
    **{f"{name}/floats": f"paddle.{name}(paddle.to_tensor([0.0, 1.0]), t([2]))" for name in _LOGIC},
    "logical_not": "paddle.logical_not(bools([4]))",
    "logical_not/ints": "paddle.logical_not(ints([4], 2))",
    **{name: f"paddle.{name}(ints([4], 9), ints([4], 9, seed=1))" for name in _BITS},
    **{f"{name}/bools": f"paddle.{name}(bools([4]), bools([4], seed=1))" for name in _BITS},
    "bitwise_not": "paddle.bitwise_not(ints([4], 9))",
    "bitwise_not/bools": "paddle.bitwise_not(bools([4]))",
    "bitwise_not/uint8": "paddle.bitwise_not(ints([4], 9, 'uint8'))",
    **{
        f"{name}_": f"x = ints([4], 9)\nx.{name}_(ints([4], 9, seed=1))\nx"
        for name in (*_BITS, "gcd", "floor_divide", "remainder")
    },
    **{f"{name}_": f"x = t([3])\nx.{name}_(pos([3], seed=1))\nx" for name in ("divide", "hypot", "multiply")},
    "atan2/gradient": "grad(paddle.atan2, t([4]), t([4], seed=1))",
    "gcd/broadcast": "paddle.gcd(ints([2, 1], 20), ints([3], 20, seed=1))",
    "lcm/negative": "paddle.lcm(paddle.to_tensor([-4, 6]), paddle.to_tensor([6, -9]))",
    "pow/number": "paddle.pow(t([3]), 2)",
    "pow/fraction": "paddle.pow(pos([3]), 0.5)",
    "pow/whole": "paddle.pow(ints([3], 5), 3)",
    "pow/tensor": "paddle.pow(pos([3]), paddle.to_tensor(2.0))",
    "lerp": "paddle.lerp(t([3]), t([3], seed=1), 0.25)",
    "lerp/tensor": "paddle.lerp(t([3]), t([3], seed=1), t([3], seed=2))",
    "lerp/gradient": "grad(paddle.lerp, t([3]), t([3], seed=1), t([3], seed=2))",
    "ldexp": "paddle.ldexp(t([3]), ints([3], 4))",
    "frexp": "paddle.frexp(t([4]) * 10)",
    "nan_to_num": "paddle.nan_to_num(paddle.to_tensor([float('nan'), float('inf'), -float('inf'), 1.0]))",
    "nan_to_num/values": (
        "paddle.nan_to_num(paddle.to_tensor([float('nan'), float('inf'), -float('inf')]), 1.0, 2.0, 3.0)"
    ),
    "polygamma": "paddle.polygamma(pos([3]), 1)",
    "polygamma/0": "paddle.polygamma(pos([3]), 0)",
    "multigammaln": "paddle.multigammaln(pos([3]) + 2, 2)",
    "logit/eps": "paddle.logit(paddle.to_tensor([-0.5, 0.2, 1.5]), eps=0.1)",
    "clip": "paddle.clip(t([4]), -0.3, 0.3)",
    "clip/one side": "paddle.clip(t([4]), min=0.0)",
    "clip/tensors": "paddle.clip(t([4]), paddle.to_tensor(-0.2), paddle.to_tensor(0.2))",
    "clip/ints": "paddle.clip(ints([5], 9), 2, 5)",
    "clip/gradient": "grad(lambda x: paddle.clip(x, -0.3, 0.3), t([5]))",
    "scale": "paddle.scale(t([3]), 2.0, 1.0)",
    "scale/bias first": "paddle.scale(t([3]), 2.0, 1.0, bias_after_scale=False)",
    "scale/ints": "paddle.scale(ints([3], 9), 2.0, 1.0)",
    "scale/act": "paddle.scale(t([3]), 2.0, act='relu')",
    "stanh/scales": "paddle.stanh(t([3]), 0.5, 2.0)",
    "multiplex": (
        "paddle.multiplex([t([3, 2]), t([3, 2], seed=1)], paddle.to_tensor([[0], [1], [0]], dtype='int32'))"
    ),
    "isnan": "paddle.isnan(paddle.to_tensor([float('nan'), 1.0]))",
    "isinf": "paddle.isinf(paddle.to_tensor([-float('inf'), 1.0]))",
    "isfinite": "paddle.isfinite(paddle.to_tensor([float('nan'), float('inf'), 1.0]))",
    "isfinite/ints": "paddle.isfinite(ints([3], 5))",
    "isclose": "paddle.isclose(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0 + 1e-6, 2.1]))",
    "isclose/nan": (
        "paddle.isclose(paddle.to_tensor([float('nan')]), paddle.to_tensor([float('nan')]), equal_nan=True)"
    ),
    "allclose": "paddle.allclose(t([3]), t([3]) + 1e-7)",
    "allclose/not": "paddle.allclose(t([3]), t([3]) + 1e-2, rtol=1e-3)",
    "equal_all": "paddle.equal_all(t([3]), t([3]))",
    "equal_all/not": "paddle.equal_all(t([3]), t([2]))",
    "equal/number": "paddle.equal(ints([4], 3), 1)",
    "complex/parts": (
        "z = t([3], 'complex64')\n(paddle.real(z), paddle.imag(z), paddle.conj(z), paddle.angle(z))"
    ),
    "complex/abs": "paddle.abs(t([3], 'complex64'))",
    "complex/times": "t([3], 'complex64') * t([3], 'complex64', seed=1)",
    "complex/divide": "t([3], 'complex64') / t([3], 'complex64', seed=1)",
    "complex/exp": "paddle.exp(t([3], 'complex64'))",
    "complex/sgn": "paddle.sgn(t([3], 'complex64'))",
    "as_complex": "paddle.as_complex(t([3, 2]))",
    "as_real": "paddle.as_real(t([3], 'complex64'))",
    "is_complex": "(paddle.is_complex(t([1])), paddle.is_complex(t([1], 'complex64')))",
    "is_integer": (
        "(paddle.is_integer(ints([1], 2)), paddle.is_floating_point(t([1])), paddle.is_integer(bools([1])))"
    ),
    "angle/real": "paddle.angle(t([4]))",
    "round/halves": "paddle.round(paddle.to_tensor([0.5, 1.5, 2.5, -0.5, -1.5]))",
    "sign/zero": "paddle.sign(paddle.to_tensor([-2.0, 0.0, 3.0]))",
    "abs/ints": "paddle.abs(paddle.to_tensor([-2, 3]))",
    "square/ints": "paddle.square(ints([3], 5))",
    "neg/ints": "paddle.neg(ints([3], 5))",
    "trunc/ints": "paddle.trunc(ints([3], 5))",
    "maximum/nan": (
        "paddle.maximum(paddle.to_tensor([float('nan'), 1.0]), paddle.to_tensor([1.0, float('nan')]))"
    ),
    "fmax/nan": "paddle.fmax(paddle.to_tensor([float('nan'), 1.0]), paddle.to_tensor([1.0, float('nan')]))",
    "heaviside/zero": "paddle.heaviside(paddle.to_tensor([-1.0, 0.0, 1.0]), paddle.to_tensor([0.5]))",
    "remainder/negative": "paddle.remainder(paddle.to_tensor([-7.0, 7.0]), paddle.to_tensor([3.0, -3.0]))",
    "exp/large": "paddle.exp(paddle.to_tensor([100.0, -200.0]))",
    "log/edges": "paddle.log(paddle.to_tensor([0.0, -1.0, 1.0]))",
    "rsqrt/zero": "paddle.rsqrt(paddle.to_tensor([0.0, 4.0]))",
}
_ROUGH = _words("digamma lgamma erfinv polygamma multigammaln i0 i1 i0e i1e")
TOLERANCES = {
    name: 2e-4
    for name in CALLS
    # Paddle's own approximations in float32
    if name.partition("/")[0].strip("_") in _ROUGH
}
