"""Recorded calls: x[index], x[index] = value for many forms of index, their gradients, what is refused."""


def _set(index: str, value: str = "7.0", make: str = "t([3, 4])") -> str:
    return f"x = {make}\nx[{index}] = {value}\nx"


_READS = {
    "int": "1", "negative": "-1", "two": "1, 2", "slice": "1:3", "step": "::2", "backwards": "::-1",
    "backwards_part": "2:0:-1", "beyond": "1:100", "far_negative": "-100:2", "empty": "2:1", "none": "None",
    "none_last": "..., None", "ellipsis": "...", "ellipsis_int": "..., 1", "mixed": "1, ::2",
    "column": ":, 1",
    "none_middle": ":, None, 1", "list": "[0, 2]", "list_2d": "[[0, 1], [2, 0]]",
    "tensor": "paddle.to_tensor([2, 0])",
    "tensor_0d": "paddle.to_tensor(1)", "tensor_2d": "paddle.to_tensor([[2, 0]])",
    "negative_tensor": "paddle.to_tensor([-1, -3])", "array": "np.array([1, 1])",
    "int32": "paddle.to_tensor([1], dtype='int32')",
    "two_tensors": "paddle.to_tensor([0, 2]), paddle.to_tensor([1, 3])",
    "broadcast_tensors": "paddle.to_tensor([[0], [2]]), paddle.to_tensor([1, 3])",
    "tensor_slice": "paddle.to_tensor([0, 2]), 1:3", "slice_tensor": "1:, paddle.to_tensor([0, 2])",
    "int_tensor": "1, paddle.to_tensor([0, 2])", "tensor_int": "paddle.to_tensor([0, 2]), 1",
    "mask": "x > 0", "mask_row": "paddle.to_tensor([True, False, True])", "mask_list": "[True, False, True]",
    "mask_array": "np.array([True, False, True])", "mask_slice": "paddle.to_tensor([True, False, True]), 1:3",
    "slice_mask": ":, paddle.to_tensor([True, False, True, False])",
    "mask_none": "paddle.zeros([3], dtype='bool')",
    "numpy_int": "np.int64(1)", "slice_tensor_bounds": "paddle.to_tensor(1):paddle.to_tensor(3)",
    "tuple_of_lists": "[0, 1], [2, 3]", "nested_tuple": "((0, 1), (2, 3))", "none_list": "None, [0, 2]",
    "out_of_range": "3", "out_of_range_negative": "-4", "out_of_range_tensor": "paddle.to_tensor([3])",
    "too_many": "0, 0, 0", "float": "1.5", "float_tensor": "paddle.to_tensor([1.5])", "string": "'a'",
    "true": "True", "false": "False", "zero_step": "::0", "mask_shape": "paddle.to_tensor([True, False])",
    "mask_shape_2d": "paddle.ones([2, 4], dtype='bool')", "empty_list": "[]", "empty_tuple": "()",
    "two_ellipses": "..., ..."
}

_CUBES = {
    "apart": "paddle.to_tensor([0, 1]), :, paddle.to_tensor([1, 0])", "together": ":, [0, 1], [1, 0]",
    "int_apart": "0, :, paddle.to_tensor([1, 0])", "int_list": "[0, 1], 1, ::2", "ellipsis": "..., [0, 1]",
    "none": "[0, 1], None, :, [1, 2]", "mask_2d": "paddle.ones([2, 3], dtype='bool'), 1",
    "mask_int": "paddle.to_tensor([True, False]), 1",
    "mask_tensor": "paddle.to_tensor([True, True]), :, [0, 1]",
    "steps": "::-1, 1:, ::3", "int_none": "1, None, ..., None"
}

# Paddle itself ends, or reads memory that is not its own, where one of these is written.
_NOT_SET = ("out_of_range_tensor",)
_GRADS = (
    "int", "backwards_part", "none_middle", "list", "two_tensors", "tensor_slice", "slice_tensor", "mask",
    "mask_row", "negative_tensor", "ellipsis_int"
)

# What Paddle refuses; where the engine does not, tests/oracle/deviations.py says why.
_RAISES = {
    "get": (
        "empty negative_tensor none_list out_of_range out_of_range_negative out_of_range_tensor too_many "
        "float float_tensor string zero_step mask_shape mask_shape_2d two_ellipses"
    ),
    "get3": "mask_2d",
    "set": (
        "empty out_of_range out_of_range_negative too_many float float_tensor string zero_step mask_shape "
        "mask_shape_2d empty_list two_ellipses"
    ),
    "grad": "negative_tensor",
}


def _named(kind: str, name: str) -> str:
    return f"{kind}/raises {name}" if name in _RAISES.get(kind, "").split() else f"{kind}/{name}"


CALLS: dict[str, str] = {
    **{_named("get", name): f"x = t([3, 4])\nx[{index}]" for name, index in _READS.items()},
    **{_named("get3", name): f"x = t([2, 3, 4])\nx[{index}]" for name, index in _CUBES.items()},
    **{_named("set", name): _set(index) for name, index in _READS.items() if name not in _NOT_SET},
    **{_named("set3", name): _set(index, make="t([2, 3, 4])") for name, index in _CUBES.items()},
    **{_named("grad", name): f"grad(lambda x: x[{_READS[name]}], t([3, 4]))" for name in _GRADS},
    **{
        _named("grad3", name): f"grad(lambda x: x[{_CUBES[name]}], t([2, 3, 4]))"
        for name in ("apart", "int_apart", "steps")
    },
    "set/row": _set("1", "t([4])"),
    "set/column": _set(":, 1", "t([3])"),
    "set/broadcast": _set("1:, ::2", "t([2, 1])"),
    "set/array": _set("0", "np.arange(4)"),
    "set/raises list_value": _set("0", "[1.0, 2.0, 3.0, 4.0]"),
    "set/int_value": _set("0", "3"),
    "set/bool_value": _set("0", "True"),
    "set/tensor_dtype": _set("0", "ints([4], 5)"),
    "set/into_int": _set("0", "1.7", "ints([3, 4], 9)"),
    "set/into_bool": _set("0", "True", "bools([3, 4])"),
    "set/raises wrong_shape": _set("0", "t([3])"),
    "set/raises wrong_rank": _set("0", "t([2, 4])"),
    "set/raises mask_values": "x = t([3])\nx[paddle.to_tensor([True, False, True])] = t([2])\nx",
    "set/mask_tensor": "x = t([2, 3])\nx[x > 0] = paddle.to_tensor(0.5)\nx",
    "set/raises mask_2d_values": (
        "x = t([2, 2])\nx[paddle.to_tensor([[True, False], [True, True]])] = t([3])\nx"
    ),
    "set/tensor_values": _set("paddle.to_tensor([0, 2])", "t([2, 4])"),
    "set/raises 0d": "x = paddle.to_tensor(1.0)\nx[...] = 2.0\nx",
    "set/raises 0d_empty_tuple": "x = paddle.to_tensor(1.0)\nx[()] = 2.0\nx",
    "set/view": "x = t([3, 4])\ny = x[1]\ny[0] = 9.0\nx",
    "set/raises none_value": _set("0", "None"),
    "set/raises string_value": _set("0", "'a'"),
    "set/self": "x = t([4])\nx[1:] = x[:-1]\nx",
    "set/grad": "def f(x, v):\n    y = x * 2\n    y[1] = v\n    return y\ngrad(f, t([3, 2]), t([2]))",
    "set/grad_broadcast": (
        "def f(x, v):\n    y = x * 2\n    y[1:, ::2] = v\n    return y\ngrad(f, t([3, 4]), t([2]))"
    ),
    "set/grad_mask": "def f(x):\n    y = x * 2\n    y[x > 0] = 0.5\n    return y * x\ngrad(f, t([3, 4]))",
    "set/grad_tensor": (
        "def f(x, v):\n    y = x * 2\n    y[paddle.to_tensor([0, 2])] = v\n    return y\n"
        "grad(f, t([3, 2]), t([2, 2]))"
    ),
    "set/raises leaf": "x = t([3])\nx.stop_gradient = False\nx[0] = 1.0\nx",
    "get/0d": "paddle.to_tensor(1.5)[...]",
    "get/0d_none": "paddle.to_tensor(1.5)[None]",
    "get/raises 0d_int": "paddle.to_tensor(1.5)[0]",
    "get/0d_empty_tuple": "paddle.to_tensor(1.5)[()]",
    "iterate": "[r for r in t([2, 3])]",
    "iterate/unpack": "a, b = t([2, 3])\nb",
    "iterate/raises 0d": "list(paddle.to_tensor(1.0))",
    "iterate/empty": "list(paddle.zeros([0, 2]))",
    "bool_tensor_0d": "t([2, 3])[paddle.to_tensor(True)]",
}
