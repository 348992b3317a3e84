"""Recorded calls: bfloat16 on the CPU, for the operators that have kernels there, and amp's names."""

X, Y = "t([2, 3], 'bfloat16')", "t([3], 'bfloat16', 2)"
CALLS: dict[str, str] = {
    "bits": f"{X}.numpy().tolist()",
    "tolist": f"{X}.tolist()",
    "repr": f"str({X})",
    "repr/0d": f"str({X}[0, 1])",
    "item": f"{X}[1, 1].item()",
    "float": f"float({X}[1, 2])",
    **{
        f"cast/{d}": f"t([5]).astype('bfloat16').astype('{d}')"
        for d in ("float32", "float64", "int32", "bool")
    },
    **{f"cast/from_{d}": f"(t([5], '{d}') * 100).astype('bfloat16')" for d in ("float32", "float64")},
    "cast/from_int": "paddle.to_tensor([0, 1, 257, -1001, 2**24 + 1]).astype('bfloat16')",
    "cast/from_bool": "paddle.to_tensor([True, False]).astype('bfloat16')",
    "cast/odd": "paddle.to_tensor([float('inf'), 3.4e38, 1e-40, -0.0]).astype('bfloat16').tolist()",
    "uint16": "paddle.to_tensor(np.array([16320, 49260], 'uint16'))",
    "full": "paddle.full([2], 0.3, 'bfloat16')",
    "full_like": f"paddle.full_like({X}, 0.3)",
    "ones_like": f"paddle.ones_like({X})",
    "zeros": "paddle.zeros([2], 'bfloat16')",
    **{
        f"number/{n}": f"{expression}".replace("x", X)
        for n, expression in enumerate(("x + 1", "x - 0.3", "x * 2.3", "x / 3.0", "1.0 - x", "-x", "x + 0.1"))
    },
    **{
        f"binary/{name}": f"paddle.{name}({X}, {Y})"
        for name in ("multiply", "subtract", "maximum", "minimum", "equal", "not_equal", "less_than",
                     "less_equal", "greater_than", "greater_equal")
    },
    "binary/pow": "paddle.pow(pos([4], 'bfloat16'), t([4], 'bfloat16'))",
    "binary/floor_divide": "paddle.floor_divide(pos([4], 'bfloat16') * 8, pos([4], 'bfloat16', 1))",
    **{f"unary/{name}": f"paddle.{name}(pos([4], 'bfloat16'))" for name in ("log", "log2", "log10", "log1p")},
    **{
        f"unary/{name}": f"paddle.{name}({X})" for name in ("isnan", "isinf", "isfinite", "assign", "nonzero")
    },
    "sum": f"{X}.sum()",
    "sum/axis": f"{X}.sum(0)",
    "sum/last": f"{X}.sum(-1, keepdim=True)",
    "sum/many": "t([40, 30], 'bfloat16').sum()",
    "sum/long": "(t([3000], 'bfloat16') + 1).sum()",
    "sum/saturates": "paddle.full([1000], 0.1, 'bfloat16').sum()",
    "add_n": f"paddle.add_n([{X}, {X}, t([2, 3], 'bfloat16', 4)])",
    "concat": f"paddle.concat([{X}, {X}], 1)",
    "stack": f"paddle.stack([{Y}, {Y}])",
    "split": "paddle.split(t([4, 2], 'bfloat16'), 2)",
    "unbind": f"paddle.unbind({X})",
    "transpose": f"{X}.transpose([1, 0])",
    "reshape": f"{X}.reshape([3, 2])",
    "squeeze": f"{X}.unsqueeze(1).squeeze(1)",
    "flatten": f"{X}.flatten()",
    "expand": f"paddle.expand({Y}, [2, 3])",
    "slice": f"{X}[:, 1:]",
    "strided": f"{X}[:, ::2]",
    "gather": f"paddle.gather({X}, paddle.to_tensor([1, 0, 1]))",
    "index_select": f"paddle.index_select({X}, paddle.to_tensor([2, 0]), 1)",
    "repeat_interleave": f"paddle.repeat_interleave({X}, 2, 1)",
    "diagonal": f"paddle.diagonal({X})",
    "embedding": f"paddle.nn.functional.embedding(paddle.to_tensor([1, 0]), {X})",
    "dropout": f"paddle.nn.functional.dropout({X}, 0.0)",
    "interpolate": (
        "paddle.nn.functional.interpolate(t([1, 1, 2, 3], 'bfloat16'), scale_factor=2, mode='nearest')"
    ),
    "promote": f"({X} * t([3])).dtype == paddle.float32",
    "grad/multiply": f"grad(lambda a, b: a * b, {X}, {Y})",
    "grad/subtract": f"grad(lambda a, b: a - b, {X}, {Y})",
    "grad/reshape": f"grad(lambda a: a.reshape([3, 2]).transpose([1, 0]), {X})",
    "amp/supported": "[paddle.amp.is_float16_supported(), paddle.amp.is_bfloat16_supported()]",
    "amp/white": "sorted(paddle.amp.white_list()['float16']['O1'])",
    "amp/black": "sorted(paddle.amp.black_list()['bfloat16']['O1'])",
    "amp/black_o2": "sorted(paddle.amp.black_list()['float16']['O2'])",
    "amp/decorate": "paddle.amp.decorate(3, 4)",
    "amp/raises level": "paddle.amp.decorate(3, level='O5')",
    "amp/raises guard": "paddle.amp.auto_cast(level='O5').__enter__()",
    "amp/raises dtype": "paddle.amp.auto_cast(dtype='int8').__enter__()",
    "amp/raises overlap": "paddle.amp.auto_cast(True, ['exp'], ['exp']).__enter__()",
    "amp/numerics": "paddle.amp.debugging.check_numerics(t([2, 3]), 'op', 'x')",
    "amp/numerics_low": f"paddle.amp.debugging.check_numerics({X}, 'op', 'x')"
}
