"""Calls of operators that Paddle's own tests make: other forms of arguments, and names that they use."""

_W = (
    "def build(x):\n"
    "    layer = nn.Linear(3, 2, nn.initializer.Assign(np.arange(6, dtype='float32').reshape(3, 2) + 1),"
    " nn.initializer.Constant(1.0))\n"
    "    layer = nn.utils.weight_norm(layer, dim={})\n"
    "    return {}\n"
    "program(build, x=np.ones([2, 3], 'float32'))"
)
_ONE = "x=np.ones([1, 1, 2, 2], 'float32')"
_R = "T = paddle.distribution.ReshapeTransform((2, 3), (3, 2))\n"
_A = "a = np.cos(np.arange({0} * {0}) * 1.7).reshape({0}, {0})\n"
# Of four different eigenvalues: those of a singular matrix come in an order that is chance.
_B = "a = np.diag([1.0, 2.0, 3.0, 4.0]) + 0.1 * np.cos(np.arange(16) ** 2 * 1.7).reshape(4, 4)\n"
_CROSS = (
    "program(lambda x, y: paddle.cross(x, y), {{'x': {0}, 'y': {0}}}, x=np.array({1}, 'float32'), "
    "y=np.array({2}, 'float32'))"
)

CALLS: dict[str, str] = {
    "isinstance/Tensor": "isinstance(paddle.ones([1]), paddle.static.Variable)",
    "isinstance/framework": "isinstance(paddle.ones([1]), paddle.base.framework.Variable)",
    "isinstance/parameter": "isinstance(paddle.create_parameter([1], 'float32'), paddle.static.Variable)",
    "isinstance/array": "isinstance(np.ones(1), paddle.static.Variable)",
    "isinstance/data": "seen = []\ndef build(x):\n    seen.append(isinstance(x, paddle.static.Variable))\n"
    "    return x + 1\nprogram(build, x=np.ones(1, 'float32'))\nseen",
    "paddle/paddle": "paddle.paddle is paddle",
    "core/prim": "core = paddle.base.core\ncore._set_prim_backward_enabled(True)\n"
    "on = core._is_bwd_prim_enabled()\ncore._set_prim_backward_enabled(False)\n"
    "[on, core._is_bwd_prim_enabled()]",
    "core/prim all": "core = paddle.base.core\ncore._set_prim_all_enabled(True)\n"
    "on = core._is_fwd_prim_enabled()\ncore._set_prim_all_enabled(False)\n[on, core._is_fwd_prim_enabled()]",
    **{
        f"weight_norm/{dim}": _W.format(dim, "[layer(x), layer.weight_g, layer.weight_v]")
        for dim in (0, 1, -1, None)
    },
    "weight_norm/loss": _W.format(0, "(layer(x) ** 2).mean()"),
    "weight_norm/removed": _W.format(0, "nn.utils.remove_weight_norm(layer)(x)"),
    "pad/Variable": "program(lambda x: F.pad(x, [0, 0, 0, 0, 1, 1, 1, 1], "
    f"value=paddle.full([1], 3.0, 'float32')), {_ONE})",
    "conv2d_transpose/Variable": "program(lambda x: F.conv2d_transpose(x, paddle.ones([1, 1, 3, 3]), "
    f"stride=2, output_size=paddle.full([2], 5, 'int32')), {_ONE})",
    "conv2d_transpose/list": "program(lambda x: F.conv2d_transpose(x, paddle.ones([1, 1, 3, 3]), "
    f"stride=2, output_size=[paddle.full([1], 6, 'int32'), 5]), {_ONE})",
    **{
        f"bincount/Variable {least}": "program(lambda x: paddle.bincount(x, minlength="
        f"paddle.full([1], {least}, 'int32')), x=np.array([1, 2, 2]))"
        for least in (0, 2, 5)
    },
    **{
        f"sequence_mask/program {dtype}": "program(lambda x: F.sequence_mask(x, maxlen=4), "
        f"x=np.array([1, 2.5, 3], '{dtype}'))"
        for dtype in ("float32", "float64", "int32", "int64")
    },
    **{
        f"{name}/float Tensor": f"paddle.{name}({first}paddle.to_tensor([2.0, 3.0])).shape"
        for name, first in (
            ("uniform", ""), ("rand", ""), ("randn", ""), ("randint", "0, 2, "), ("normal", "0.0, 1.0, "),
            ("empty", ""),
        )
    },
    "empty/Tensor of dimensions": "paddle.empty([2, paddle.to_tensor([[[3]]])]).shape",
    "eye/program float": "program(lambda: paddle.eye(paddle.full([1], 3.0, 'float32')))",
    "eye/program two": "program(lambda: paddle.eye(paddle.full([1], 3.0), paddle.full([1], 2.0)))",
    "cumsum/float Tensor": "paddle.cumsum(t([2, 3]), axis=paddle.to_tensor([1.0]))",
    "cumsum/float": "paddle.cumsum(t([2, 3]), axis=1.0)",
    "cumsum/program float": "program(lambda x: paddle.cumsum(x, axis=paddle.full([1], 1.0)), "
    "x=np.ones([2, 2], 'float32'))",
    "ReshapeTransform/inverse of the other": _R + "T.inverse(t([1, 2, 3]))",
    "ReshapeTransform/forward of the other": _R + "T.forward(t([1, 3, 2]))",
    "ReshapeTransform/inverse": _R + "T.inverse(t([1, 3, 2]))",
    "ReshapeTransform/determinant": _R + "T.inverse_log_det_jacobian(t([1, 2, 3]))",
    "CPUPlace/_equals": "paddle.CPUPlace()._equals(paddle.CPUPlace())",
    **{
        f"nll_loss/{shape} {kind}": f"F.nll_loss(t([5, 2]), ints({shape}, 2), reduction='{kind}')"
        for shape in ("[5, 5]", "[5, 2]", "[5, 1]")
        for kind in ("none", "mean", "sum")
    },
    "to_tensor/uint8": "paddle.to_tensor([-1.5, 0.5], dtype='uint8')",
    "to_tensor/uint8 of integers": "paddle.to_tensor([300, -1, 256], dtype='uint8')",
    "to_tensor/int8": "paddle.to_tensor([300.7, -1, 256], dtype='int8')",
    "to_tensor/int32": "paddle.to_tensor([2**40 + 3, -1, 256], dtype='int32')",
    "to_tensor/array": "paddle.to_tensor(np.array([-1.5, 0.5]), dtype='uint8')",
    "LinearWarmup/raises end": "paddle.optimizer.lr.LinearWarmup(0.1, 5, 1.0, 0.1)",
    "LinearWarmup/raises float": "paddle.optimizer.lr.LinearWarmup(0.1, 5.0, 0.0, 0.1)",
    "LinearWarmup/raises 0": "paddle.optimizer.lr.LinearWarmup(0.1, 0, 0.0, 0.1)",
    **{f"eigvals/{n}": _A.format(n) + "paddle.linalg.eigvals(paddle.to_tensor(a))" for n in (2, 3, 4, 5)},
    "eigvals/batch": _B + "paddle.linalg.eigvals(paddle.to_tensor(np.stack([a, a.T])))",
    "eig/4": _B + "paddle.linalg.eig(paddle.to_tensor(a))[0]",
    "cross/unknown sizes": _CROSS.format("[-1, -1]", "[[1.0, 2.0, 3.0]]", "[[3.0, 2.0, 1.0]]"),
    "cross/unknown first": _CROSS.format("[-1, 3]", "[[1.0, 2.0, 3.0]]", "[[3.0, 2.0, 1.0]]"),
}
TOLERANCES = {f"eigvals/{n}": 1e-8 for n in (2, 3, 4, 5)}
