"""Operators with tensors and numbers, in every mixture of dtypes."""

_TENSORS = {
    "float32": "paddle.to_tensor([1.5, -2.0, 4.0])",
    "float64": "paddle.to_tensor([1.5, -2.0, 4.0], dtype='float64')",
    "int32": "paddle.to_tensor([7, -7, 2], dtype='int32')",
    "int64": "paddle.to_tensor([7, -7, 2])",
    "bool": "paddle.to_tensor([True, False, True])",
}
_ARITHMETIC = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow",
    "==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"
}
_NUMBERS = ("2", "3.5", "-2", "True")


def _with_numbers() -> dict[str, str]:
    calls = {}
    for op in _ARITHMETIC:
        for kind, code in _TENSORS.items():
            if kind == "bool" and op in ("//", "%", "**", "<", "<=", ">", ">="):
                continue
            for number in _NUMBERS:
                if kind.startswith("int") and op == "**" and number == "-2":
                    continue  # Paddle gives whatever its integer power gives
                if (kind, number) == ("bool", "True") and op in "+-":
                    continue  # no kernel
                calls[f"{kind} {op} {number}"] = f"{code} {op} {number}"
        for number in ("2", "3.5") if op not in ("//", "%") else ():  # Paddle has no reflected form
            for kind in ("float32", "int64"):
                if (number, op, kind) == ("2", "**", "int64"):
                    continue  # a negative power of a whole number
                calls[f"{number} {op} {kind}"] = f"{number} {op} {_TENSORS[kind]}"
    return calls


def _with_tensors() -> dict[str, str]:
    calls = {}
    for op in _ARITHMETIC:
        for kind, code in _TENSORS.items():
            if kind == "bool" and op not in ("==", "!="):
                continue
            if kind.startswith("int") and op == "**":
                continue
            other = f"paddle.to_tensor({'[True, True, False]' if kind == 'bool' else '[2, 3, 5]'})"
            calls[f"{kind} {op} {kind}"] = f"{code} {op} {other}.astype('{kind}')"
    for op in ("+", "*", "/", "<"):
        for a, b in (("float32", "float64"), ("int32", "int64"), ("int64", "float32"), ("bool", "float32")):
            if (a, op) == ("bool", "+"):
                continue  # no kernel
            calls[f"{a} {op} {b}"] = f"{_TENSORS[a]} {op} {_TENSORS[b]}"
            calls[f"{b} {op} {a}"] = f"{_TENSORS[b]} {op} {_TENSORS[a]}"
    return calls


CALLS: dict[str, str] = {
    **_with_numbers(),
    **_with_tensors(),
    "2 ** whole numbers": "2 ** paddle.to_tensor([0, 3, 5])",
    "neg": "-t([3])",
    "neg/ints": "-ints([3], 9)",
    "neg/zeros": "str(-paddle.to_tensor([0.0, -0.0, 2.0]))",
    "neg/zeros, by scale": "str(paddle.zeros([2]) * -1)",
    "matmul": "t([2, 3]) @ t([3, 2], seed=1)",
    "matmul/vectors": "t([3]) @ t([3], seed=1)",
    "matmul/batch": "t([2, 2, 3]) @ t([3, 1], seed=1)",
    "matmul/raises": "t([2, 3]) @ t([2, 3])",
    "invert": "~bools([4])",
    "invert/ints": "~ints([4], 9)",
    "and": "bools([4]) & bools([4], seed=1)",
    "or": "bools([4]) | bools([4], seed=1)",
    "xor": "bools([4]) ^ bools([4], seed=1)",
    "and/ints": "ints([4], 9) & ints([4], 9, seed=1)",
    "or/ints": "ints([4], 9) | ints([4], 9, seed=1)",
    "xor/ints": "ints([4], 9) ^ ints([4], 9, seed=1)",
    "iadd": "x = t([3])\nx += 1\nx",
    "isub": "x = t([3])\nx -= t([3], seed=1)\nx",
    "imul": "x = t([3])\nx *= 2.5\nx",
    "itruediv": "x = t([3])\nx /= 4\nx",
    "array on the right": "t([2]) + np.array([1.0, 2.0], 'float32')",
    "float64 array on the right": "t([2]) * np.array([1.0, 2.0])",
    "numpy number on the right": "t([2]) * np.float32(2)",
    "float64 number of numpy": "t([2]) * np.float64(2)",
    "0-d on the right": "t([2]) * paddle.to_tensor(2.0)",
    "0-d float64 on the right": "t([2]) * paddle.to_tensor(2.0, dtype='float64')",
    "broadcast": "t([2, 1]) + t([1, 3], seed=1)",
    "broadcast/ranks": "t([2, 3]) - t([3], seed=1)",
    "broadcast/0-d": "t([]) * t([2, 2], seed=1)",
    "broadcast/raises": "t([2, 3]) + t([2])",
    "broadcast/raises for sizes": "t([3]) * t([4])",
    "gradient/broadcast": "grad(lambda x, y: x * y + y, t([2, 3]), t([3], seed=1))",
    "gradient/column": "grad(lambda x, y: x / y, t([2, 1]), pos([2, 3], seed=1))",
    "gradient/pow": "grad(lambda x, y: x ** y, pos([3]), t([3], seed=1))",
    "gradient/pow number": "grad(lambda x: x ** 3, t([3]))",
    "gradient/number power": "grad(lambda x: 2.0 ** x, t([3]))",
    "gradient/maximum": "grad(paddle.maximum, t([4]), t([4], seed=1))",
    "gradient/mod": "grad(lambda x, y: x % y, t([4]), pos([4], seed=1))",
    "gradient/matmul": "grad(lambda x, y: x @ y, t([2, 3]), t([3, 2], seed=1))",
    "gradient/matmul batch": "grad(lambda x, y: x @ y, t([2, 2, 3]), t([3, 2], seed=1))",
    "gradient/matmul vectors": "grad(lambda x, y: x @ y, t([3]), t([3], seed=1))",
    "division by zero": "paddle.to_tensor([1.0, -1.0, 0.0]) / 0.0",
    "negative floor division": "paddle.to_tensor([7.5, -7.5]) // 2.0",
    "negative remainder": "paddle.to_tensor([7.5, -7.5]) % -2.0",
    "int floor division of negatives": "paddle.to_tensor([7, -7]) // paddle.to_tensor([-2, 2])",
    "int remainder of negatives": "paddle.to_tensor([7, -7]) % paddle.to_tensor([-3, 3])",
    "nan compares": "(x := paddle.to_tensor([float('nan'), 1.0])) == x",
    "float": "float(paddle.to_tensor([2.5]))",
    "int": "int(paddle.to_tensor(2.9))",
    "bool": "(bool(paddle.to_tensor([0.0])), bool(paddle.to_tensor(3)))",
    "bool/raises for many": "bool(t([2]))",
    "float/raises for many": "float(t([2]))",
    "index": "[10, 20, 30][paddle.to_tensor(1)]",
    "len": "len(t([4, 2]))",
    "len/raises for 0-d": "len(t([]))",
    "iterate": "[x for x in t([2, 2])]",
    "iterate/0-d": "[x for x in t([])]",
    "in": "2 in paddle.to_tensor([1, 2])",
    "hash": "len({t([1]), t([1])})",
    "item": "paddle.to_tensor([[1.5, 2.5]]).item(1)",
    "item/two": "paddle.to_tensor([[1.5, 2.5]]).item(0, 1)",
    "item/raises for many": "t([2]).item()",
    "tolist": "paddle.to_tensor([[1, 2], [3, 4]]).tolist()",
    "tolist/0-d": "paddle.to_tensor(1.5).tolist()",
    "numpy": "t([2]).numpy()",
    "numpy/0-d": "paddle.to_tensor(1.5).numpy()",
    "np.array": "np.array(t([2]))",
    "np.array/dtype": "np.array(t([2]), dtype='float64')",
    "np.asarray of ints": "np.asarray(ints([3], 9))",
    "properties": (
        "x = t([2, 3])\n"
        "(x.shape, x.ndim, x.size, x.dtype, x.stop_gradient, x.persistable, x.is_leaf, x.dim(), x.rank())"
    ),
    "properties/types": "x = t([2, 3])\n(type(x.shape).__name__, type(x.size).__name__, x.element_size())",
    "T": "t([2, 3]).T",
    "T/three dimensions": "t([2, 1, 3]).T",
    "mT": "t([2, 3]).t()",
    "astype": "t([3]).astype('int64')",
    "astype/dtype": "ints([3], 9).astype(paddle.float64)",
    "astype/numpy type": "ints([3], 9).astype(np.float32)",
    "cast": "paddle.cast(t([3]), 'bool')",
    "cast/nan": "paddle.to_tensor([2.9, -2.9]).cast('int32')",
    "cast/raises": "t([3]).astype('float31')",
    "numel": "paddle.numel(t([2, 3]))",
    "deepcopy": "import copy\ncopy.deepcopy(t([2]))",
    "set_value": "x = t([2])\nx.set_value(np.array([3.0, 4.0], 'float32'))\nx",
    "set_value/raises for a shape": "t([2]).set_value(np.ones(3, 'float32'))",
    "set_value/raises for a dtype": "t([2]).set_value(np.ones(2, 'int64'))",
    "fill_": "t([2]).fill_(3.0)",
    "zero_": "t([2]).zero_()",
    "add_": "x = t([2])\ny = x.add_(paddle.ones([2]))\n(x, y is x)",
    "scale_": "t([2]).scale_(2.0, 1.0)",
    "clip_": "t([4]).clip_(-0.1, 0.1)",
    "add_/raises for a wider shape": "t([2]).add_(t([3, 2]))",
    "to/dtype": "t([2]).to('float64')",
    "cpu": "t([2]).cpu()",
    "is_contiguous": "(t([2, 3]).is_contiguous(), t([2, 3]).contiguous().shape)",
    "broadcast_shape": "paddle.broadcast_shape([2, 1, 3], [3, 1])",
}
