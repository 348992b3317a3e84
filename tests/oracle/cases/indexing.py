"""Indexing and slicing: getting, setting, and the gradients of both."""

_GET = {
    "int": "x[1]", "negative": "x[-1]", "two ints": "x[1, 2]", "all ints": "x[0, 2, 1]", "slice": "x[0:1]",
    "open slice": "x[1:]", "negative slice": "x[:, -2:]", "step": "x[:, ::2]", "reversed": "x[:, ::-1]",
    "backwards": "x[0, 2:0:-1]", "beyond": "x[:, 1:100]", "ellipsis": "x[..., 0]",
    "ellipsis in the middle": "x[0, ..., 1]", "none": "x[None]", "none inside": "x[:, None, 0]",
    "none last": "x[..., None]", "slices and ints": "x[1, 1:3, 0]", "only ellipsis": "x[...]",
    "list": "x[[1, 0]]", "list of one": "x[[1]]", "nested list": "x[[[0, 1], [1, 0]]]",
    "array": "x[np.array([1, 0])]", "tensor": "x[paddle.to_tensor([1, 0, 1])]",
    "int32 tensor": "x[paddle.to_tensor([1, 0], dtype='int32')]", "0-d tensor": "x[paddle.to_tensor(1)]",
    "0-d tensor second": "x[:, paddle.to_tensor(2)]",
    "tensor of two dimensions": "x[paddle.to_tensor([[0], [1]])]",
    "tensor after a slice": "x[:, paddle.to_tensor([2, 0])]",
    "two tensors": "x[paddle.to_tensor([0, 1]), paddle.to_tensor([2, 0])]",
    "two tensors broadcast": "x[paddle.to_tensor([[0], [1]]), paddle.to_tensor([2, 0])]",
    "tensor and int": "x[paddle.to_tensor([0, 1]), 1]",
    "tensors apart": "x[paddle.to_tensor([0, 1]), :, paddle.to_tensor([1, 0])]",
    "mask": "x[x > 0]", "mask of the first dimension": "x[paddle.to_tensor([True, False])]",
    "mask of two dimensions": "x[paddle.to_tensor([[True, False, True], [False, False, True]])]",
    "list of bools": "x[[False, True]]", "mask and slice": "x[paddle.to_tensor([True, False]), 1:]",
    "mask of nothing": "x[x > 5]", "slice with tensors": "x[:, paddle.to_tensor(1):paddle.to_tensor(3)]",
    "list second": "x[:, [0, 2]]", "tuple of lists": "x[[0, 1], [1, 2]]",
    "True": "x[True]", "False": "x[False]",
    "chain": "x[1][2][0]", "array bool": "x[np.array([True, False])]", "int of numpy": "x[np.int64(1)]",
    "range": "x[list(range(2))]"
}
_SET = {
    "int": "x[1] = 5.0", "element": "x[0, 1, 0] = 5", "slice": "x[:, 1:] = 0.5", "step": "x[:, ::2] = 0.5",
    "reversed": "x[:, ::-1] = paddle.arange(12, dtype='float32').reshape([2, 3, 2])",
    "row of a tensor": "x[0] = paddle.ones([3, 2])", "broadcast": "x[0] = paddle.to_tensor([1.0, 2.0])",
    "0-d": "x[0, 0] = paddle.to_tensor(3.0)", "array": "x[1, :, 0] = np.array([1, 2, 3], 'float32')",
    "ellipsis": "x[..., 1] = -1.0", "mask": "x[x > 0] = 0.0",
    "mask of a tensor": "x[x < 0] = paddle.to_tensor(9.0)",
    "mask of rows": "x[paddle.to_tensor([True, False])] = 2.0", "tensor": "x[paddle.to_tensor([1])] = 4.0",
    "tensor after a slice": "x[:, paddle.to_tensor([0, 2])] = 4.0", "list": "x[[0, 1]] = 1.5",
    "two tensors": (
        "x[paddle.to_tensor([0, 1]), paddle.to_tensor([2, 0])] = paddle.to_tensor([[1.0, 2], [3, 4]])"
    ),
    "none": "x[None, 0] = 7.0", "int value": "x[0, 0, 0] = 3", "whole": "x[:] = 1.0", "plus": "x[0] += 1.0",
    "bool value": "x[0] = True", "float64 value": "x[0] = np.ones((3, 2))"
}

CALLS: dict[str, str] = {
    **{f"get/{name}": f"x = t([2, 3, 2])\n{code}" for name, code in _GET.items()},
    **{f"set/{name}": f"x = t([2, 3, 2])\n{code}\nx" for name, code in _SET.items()},
    **{
        f"gradient/{name}": f"grad(lambda x: {_GET[name]}, t([2, 3, 2]))"
        for name in ("int", "step", "reversed", "none inside", "tensor", "two tensors", "mask", "list second")
    },
    "gradient/repeated index": "grad(lambda x: x[paddle.to_tensor([0, 0, 1])], t([3]))",
    "gradient/set": (
        "def f(x, v):\n    y = x * 2\n    y[0] = v\n    return y * y\ngrad(f, t([2, 3]), t([3], seed=1))"
    ),
    "gradient/set by mask": (
        "def f(x):\n    y = x * 2\n    y[y > 0] = 0.0\n    return y * y\ngrad(f, t([2, 3]))"
    ),
    "set/ints": "x = ints([4], 9)\nx[1] = 7\nx",
    "set/float into ints": "x = ints([4], 9)\nx[1] = 7.9\nx",
    "set/bools": "x = bools([4])\nx[1:3] = True\nx",
    "get/0-d none": "t([])[None]",
    "get/0-d ellipsis": "t([])[...]",
    "get/vector int": "t([3])[1]",
    "get/vector negative": "t([3])[-3]",
    "get/bool tensor": "bools([4])[1:]",
    "get/empty": "paddle.zeros([0, 2])[:, 0]",
    "get/raises beyond": "t([3])[3]",
    "get/raises below": "t([3])[-4]",
    "get/raises for too many": "t([3])[0, 0]",
    "get/raises in the second": "t([2, 3])[0, 5]",
    "get/raises for a float": "t([3])[1.5]",
    "get/raises for text": "t([3])['a']",
    "get/raises for a mask of another size": "t([3])[paddle.to_tensor([True, False])]",
    "get/raises for a tensor beyond": "t([3])[paddle.to_tensor([5])]",
    "get/raises for a float tensor": "t([3])[paddle.to_tensor([1.0])]",
    "get/raises for a step of zero": "t([3])[::0]",
    "set/raises beyond": "x = t([3])\nx[3] = 1.0\nx",
    "set/raises for a shape": "x = t([3])\nx[0:2] = paddle.ones([3])\nx",
    "set/raises for a leaf": "x = t([3])\nx.stop_gradient = False\nx[0] = 1.0\nx",
    "view/slice follows": "x = t([4])\ny = x[1:3]\nx[1] = 9.0\ny",
}
