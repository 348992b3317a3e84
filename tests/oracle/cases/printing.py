"""Tensors as text."""

_VALUES = {
    "0-d": "paddle.to_tensor(2.5)",
    "0-d int": "paddle.to_tensor(-3)",
    "0-d bool": "paddle.to_tensor(True)",
    "whole": "paddle.to_tensor([1.0, 2.0, 3.0])",
    "mixed": "paddle.to_tensor([[1, 2.5], [-3.25, 4]])",
    "negative": "paddle.to_tensor([-1.5, -2.0, 0.0])",
    "negative zero": "paddle.to_tensor([-0.0, 0.0])",
    "tiny": "paddle.to_tensor([1e-9, 1.0, 123456.789])",
    "large": "paddle.to_tensor([1e20, 1.0, 3e38])",
    "large float64": "paddle.to_tensor([1e300, 0.1], dtype='float64')",
    "nan and inf": "paddle.to_tensor([float('nan'), float('inf'), -float('inf'), 1.5])",
    "nan alone": "paddle.to_tensor([float('nan')])",
    "ints": "paddle.to_tensor([[1, -20], [300, 4]])",
    "int32": "paddle.arange(3, dtype='int32')",
    "int8": "paddle.to_tensor(np.array([-128, 127], 'int8'))",
    "uint8": "paddle.to_tensor(np.array([0, 255], 'uint8'))",
    "int16": "paddle.to_tensor(np.array([-1, 300], 'int16'))",
    "bools": "paddle.to_tensor([[True, False], [False, False]])",
    "float64": "paddle.to_tensor(np.linspace(0, 1, 4))",
    "float16": "paddle.to_tensor(np.array([0.1, 2.5], 'float16'))",
    "complex64": "paddle.to_tensor([1 + 2j, -0.5j])",
    "complex128": "paddle.to_tensor(np.array([1.5 - 2j]))",
    "three dimensions": "paddle.reshape(paddle.arange(24, dtype='float32') / 8, [2, 3, 4])",
    "four dimensions": "paddle.reshape(paddle.arange(8), [1, 2, 2, 2])",
    "long": "paddle.arange(40, dtype='float32') / 4",
    "long ints": "paddle.arange(100)",
    "long bools": "paddle.arange(30) % 3 == 0",
    "rows longer than a line": "paddle.reshape(paddle.arange(50, dtype='float32'), [2, 25]) / 8",
    "summary": "paddle.arange(2000, dtype='float32')",
    "summary of negatives": "paddle.arange(2000, dtype='float32') / 4 - 250",
    "summary of a matrix": "paddle.reshape(paddle.arange(3000), [50, 60])",
    "summary of few rows": "paddle.reshape(paddle.arange(3000), [3, 1000])",
    "summary of few columns": "paddle.reshape(paddle.arange(3000), [1000, 3])",
    "summary of three dimensions": "paddle.reshape(paddle.arange(1600), [20, 20, 4])",
    "exactly a thousand": "paddle.reshape(paddle.arange(1000), [10, 100])",
    "empty": "paddle.zeros([0])",
    "empty rows": "paddle.zeros([0, 3])",
    "empty columns": "paddle.zeros([2, 0])",
    "one element deep": "paddle.ones([1, 1, 1])",
    "with gradient": "paddle.to_tensor([1.0], stop_gradient=False)",
    "result with gradient": "paddle.to_tensor([1.0], stop_gradient=False) * 2",
    "transposed": "paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]).T",
    "big ints": "paddle.to_tensor([2**40, -(2**40)])",
    "thirds": "paddle.to_tensor([1 / 3, 2 / 3])",
    "whole beyond precision": "paddle.to_tensor([123456789.0, 0.5])",
}
_OPTIONS = {
    "precision 2": "precision=2",
    "precision 4": "precision=4",
    "precision 0": "precision=0",
    "scientific": "sci_mode=True",
    "scientific precision 3": "precision=3, sci_mode=True",
    "threshold 5": "threshold=5",
    "threshold 5 edge 1": "threshold=5, edgeitems=1",
    "edge 2": "threshold=10, edgeitems=2",
    "narrow": "linewidth=40",
    "wide": "linewidth=200",
}
_SHOWN = {
    "matrix": "paddle.to_tensor([[0.125, -2.0, 3.456789], [40.5, 5.0, 6.0]])",
    "vector": "paddle.arange(20, dtype='float32') / 3 - 2",
    "ints": "paddle.reshape(paddle.arange(24), [4, 6])",
    "small": "paddle.to_tensor([1e-5, 1234.5678])",
}
_CHOSEN = [
    ("precision 2", "matrix"), ("precision 4", "vector"), ("precision 0", "matrix"), ("scientific", "matrix"),
    ("scientific precision 3", "small"), ("threshold 5", "vector"), ("threshold 5", "ints"),
    ("threshold 5 edge 1", "ints"), ("edge 2", "vector"), ("edge 2", "ints"), ("narrow", "vector"),
    ("narrow", "ints"), ("wide", "vector"), ("precision 4", "small"), ("scientific", "ints")
]

CALLS: dict[str, str] = {
    **{f"str/{name}": f"str({code})" for name, code in _VALUES.items()},
    **{
        f"set_printoptions/{option}/{shown}": (
            f"paddle.set_printoptions({_OPTIONS[option]})\nstr({_SHOWN[shown]})"
        )
        for option, shown in _CHOSEN
    },
    "repr": "repr(paddle.to_tensor([[1.0, 2.5]]))",
    "format": "f'{paddle.to_tensor([1, 2])}'",
    "format/0-d": "f'{paddle.to_tensor(2.5)}'",
    "format/item": "f'{paddle.to_tensor(2.5).item():.3f}'",
    "format/one element": "'%s' % paddle.to_tensor([3])",
    "format/as float": "'%.2f' % float(paddle.to_tensor(2.5))",
    "parameter": (
        "l = nn.Linear(2, 1, weight_attr=paddle.ParamAttr(initializer=nn.initializer.Constant(0.5)))\n"
        "str(l.weight)"
    ),
    "parameter/repr": "repr(nn.Linear(2, 1).bias)",
    "list of tensors": "str([paddle.to_tensor([1]), paddle.to_tensor(2.0)])",
    "set_printoptions/raises for text": "paddle.set_printoptions(precision='two')",
    "place": "str(t([1]).place)",
    "place/repr": "repr(t([1]).place)",
    "gradient": (
        "x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)\n(x * x).sum().backward()\nstr(x.grad)"
    ),
}
