"""Calls that make tensors."""

CALLS: dict[str, str] = {
    "to_tensor/list": "paddle.to_tensor([[1.0, 2], [3, 4]])",
    "to_tensor/ints": "paddle.to_tensor([1, 2, 3])",
    "arange/float": "paddle.arange(0, 1, 0.25)",
    "flip/2d": "paddle.flip(t([3, 4]), axis=[0])",
    "grad/demo": "grad(lambda x, y: x * y, t([2, 3]), t([3], seed=1))",
    "to_tensor/raises": "paddle.to_tensor(object())",
    "print/demo": "str(t([2, 3]))",
}
