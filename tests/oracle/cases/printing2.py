"""Recorded calls: the text of tensors."""


def _with(options: str, make: str) -> str:
    return (
        f"paddle.set_printoptions({options})\nx = str({make})\n"
        "paddle.set_printoptions(precision=8, threshold=1000, edgeitems=3, sci_mode=False, linewidth=80)\nx"
    )


CALLS: dict[str, str] = {
    "float": "str(t([2, 3]))",
    "int": "str(ints([2, 3], 2000))",
    "negative_ints": "str(ints([4], 2000) - 700)",
    "bool": "str(bools([5]))",
    "bool_2d": "str(bools([2, 2]))",
    "0d": "str(paddle.to_tensor(1.5))",
    "0d_int": "str(paddle.to_tensor(7))",
    "0d_bool": "str(paddle.to_tensor(True))",
    "0d_negative": "str(paddle.to_tensor(-0.25))",
    "empty": "str(paddle.zeros([0]))",
    "empty_2d": "str(paddle.zeros([0, 3]))",
    "empty_inner": "str(paddle.zeros([2, 0]))",
    "empty_inner_3d": "str(paddle.zeros([2, 0, 3]))",
    "3d": "str(t([2, 2, 3]))",
    "4d": "str(t([2, 1, 2, 2]))",
    "whole": "str(paddle.arange(4, dtype='float32'))",
    "whole_and_fraction": "str(paddle.to_tensor([1.0, 2.5, -3.25]))",
    "double": "str(t([3], 'float64'))",
    "half": "str(t([3]).astype('float16'))",
    "uint8": "str(ints([3], 250).astype('uint8'))",
    "int8": "str((ints([3], 250) - 128).astype('int8'))",
    "complex": "str(paddle.to_tensor([1 + 2j, -0.5 - 1.25j]))",
    "complex_0d": "str(paddle.to_tensor(1 + 2j))",
    "inf": "str(paddle.to_tensor([1.0, float('inf'), -float('inf')]))",
    "nan": "str(paddle.to_tensor([1.5, float('nan'), -2.0]))",
    "small": "str(paddle.to_tensor([1e-10, 1.0]))",
    "large": "str(paddle.to_tensor([1e10, 1.5]))",
    "very_large": "str(paddle.to_tensor([1e30, 1.0]))",
    "summary": "str(paddle.arange(2000))",
    "summary_2d": "str(t([60, 40]))",
    "summary_3d": "str(t([4, 30, 30]))",
    "summary_narrow": "str(t([600, 2]))",
    "wide": "str(t([2, 20]))",
    "wide_ints": "str(ints([40], 10000))",
    "long_1d": "str(t([40]))",
    "gradient": "x = t([2])\nx.stop_gradient = False\nstr(x)",
    "gradient_result": "x = t([2])\nx.stop_gradient = False\nstr(x * 2)",
    "repr": "repr(t([2]))",
    "parameter": (
        "p = paddle.create_parameter([2], 'float32', "
        "default_initializer=paddle.nn.initializer.Constant(0.5))\n"
        "str(p)"
    ),
    "parameter_fixed": (
        "p = paddle.create_parameter([2], 'float32', "
        "default_initializer=paddle.nn.initializer.Constant(0.5))\n"
        "p.stop_gradient = True\nrepr(p)"
    ),
    "parameter_2d": (
        "p = paddle.create_parameter([2, 2], 'float32', "
        "default_initializer=paddle.nn.initializer.Constant(0.5))\nstr(p)"
    ),
    "in_list": "str([t([2])])",
    "precision": _with("precision=3", "t([2, 3])"),
    "precision_0": _with("precision=0", "t([3])"),
    "sci_mode": _with("sci_mode=True", "t([2, 2])"),
    "sci_mode_precision": _with("precision=2, sci_mode=True", "t([3])"),
    "sci_ints": _with("sci_mode=True", "ints([3], 9)"),
    "linewidth": _with("linewidth=40", "t([12])"),
    "linewidth_wide": _with("linewidth=200", "t([15])"),
    "edgeitems": _with("edgeitems=1", "t([40, 40])"),
    "edgeitems_5": _with("edgeitems=5", "paddle.arange(3000)"),
    "threshold": _with("threshold=5", "t([10])"),
    "threshold_2d": _with("threshold=5", "t([7, 7])"),
    "options/raises wrong": "paddle.set_printoptions(precision='a')",
    "dtype_in_list": "str([paddle.float32, 'a'])",
}
