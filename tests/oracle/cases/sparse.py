"""Sparse tensors: making and printing them, functions and their gradients, layers, static mode."""

_MATRIX = "paddle.sparse.sparse_coo_tensor([[0, 0, 1, 2], [0, 2, 1, 0]], [1.5, -2.0, 3.0, 0.25], [3, 4])"
_OTHER = "paddle.sparse.sparse_coo_tensor([[0, 1, 1, 2], [2, 0, 1, 3]], [2.0, 5.0, -4.0, 0.5], [3, 4])"
_CUBE = (
    "paddle.sparse.sparse_coo_tensor([[0, 0, 0, 1, 1], [0, 2, 2, 0, 1], [1, 0, 3, 1, 2]], t([5]), [2, 3, 4])"
)
_DEEP = "paddle.sparse.sparse_coo_tensor([[0, 0, 1, 1], [1, 2, 0, 2]], t([4, 2]), [2, 3, 2])"
_IMAGES = (
    "paddle.sparse.sparse_coo_tensor([[0, 0, 0, 0, 1, 1], [0, 1, 1, 2, 0, 2], [0, 1, 2, 2, 1, 0], "
    "[2, 2, 1, 0, 0, 1]], t([6, 2]), [2, 3, 3, 3, 2])"
)
_FLAT = "paddle.sparse.sparse_coo_tensor([[0, 0, 0, 1], [0, 1, 2, 3], [1, 1, 2, 0]], t([4, 2]), [2, 4, 3, 2])"


def _csr(made: str) -> str:
    return f"{made}.to_sparse_csr()"


def _gradients(function: str, *made: str) -> str:
    """The result of a function, and the gradients of sparse leaves where its gradient is its square."""
    names = [f"x{n}" for n in range(len(made))]
    lines = [
        f"{name} = {value}\n{name}.stop_gradient = False" for name, value in zip(names, made, strict=True)
    ]
    lines.append(f"y = ({function})({', '.join(names)})")
    lines.append("y.backward(paddle.sparse.square(y))")
    return "\n".join([*lines, f"[y, {', '.join(n + '.grad' for n in names)}]"])


_UNARY = [
    "sin",
    "tan",
    "asin",
    "atan",
    "sinh",
    "tanh",
    "asinh",
    "atanh",
    "sqrt",
    "square",
    "log1p",
    "abs",
    "neg",
    "deg2rad",
    "rad2deg",
    "expm1",
    "isnan",
    "coalesce",
]


def _unary() -> dict[str, str]:
    calls = {}
    for name in _UNARY:
        calls[f"{name}/coo"] = f"paddle.sparse.{name}({_MATRIX})"
        calls[f"{name}/float64"] = f"paddle.sparse.{name}(paddle.sparse.cast({_MATRIX}, None, 'float64'))"
        calls[f"{name}/deep"] = f"paddle.sparse.{name}({_DEEP})"
        if name != "coalesce":
            calls[f"{name}/csr"] = f"paddle.sparse.{name}({_csr(_MATRIX)})"
        if name not in ("isnan", "coalesce"):
            calls[f"{name}/gradient"] = _gradients(f"paddle.sparse.{name}", _MATRIX)
            calls[f"{name}/gradient csr"] = _gradients(f"paddle.sparse.{name}", _csr(_MATRIX))
    for name, call in {
        "pow/3": "paddle.sparse.pow(x, 3)",
        "pow/-1.5": "paddle.sparse.pow(x, -1.5)",
        "pow/text": "paddle.sparse.pow(x, '2')",
        "cast/values": "paddle.sparse.cast(x, None, 'float64')",
        "cast/both": "paddle.sparse.cast(x, 'int32', 'int64')",
        "cast/bool": "paddle.sparse.cast(x, value_dtype='bool')",
        "cast/dtypes": "paddle.sparse.cast(x, paddle.int32, np.float64)",
        "deg2rad/int64": "paddle.sparse.deg2rad(paddle.sparse.cast(x, None, 'int64'))",
        "relu/coo": "paddle.sparse.nn.functional.relu(x)",
        "relu6/coo": "paddle.sparse.nn.functional.relu6(paddle.sparse.multiply(x, 3))",
        "leaky_relu/coo": "paddle.sparse.nn.functional.leaky_relu(x, 0.25)",
    }.items():
        calls[name] = f"x = {_MATRIX}\n{call}"
    for name in ("relu", "relu6", "leaky_relu"):
        calls[f"{name}/gradient"] = _gradients(f"paddle.sparse.nn.functional.{name}", _MATRIX)
    calls["pow/gradient"] = _gradients("lambda x: paddle.sparse.pow(x, 3)", _csr(_MATRIX))
    calls["cast/gradient"] = _gradients("lambda x: paddle.sparse.cast(x, 'int32', 'float64')", _MATRIX)
    for name in ("sin", "deg2rad", "cast"):
        calls[f"{name}/raises dense"] = f"paddle.sparse.{name}(t([2, 2]))"
    calls["coalesce/twice"] = (
        "paddle.sparse.sparse_coo_tensor([[1, 0, 1], [2, 0, 2]], [1.0, 2.0, 3.0], [3, 3]).coalesce()"
    )
    calls["coalesce/raises csr"] = f"{_csr(_MATRIX)}.coalesce()"
    return calls


def _binary() -> dict[str, str]:
    calls = {}
    for name in ("add", "subtract", "multiply", "divide"):
        function = f"paddle.sparse.{name}"
        calls[f"{name}/coo"] = f"{function}({_MATRIX}, {_OTHER})"
        calls[f"{name}/csr"] = f"{function}({_csr(_MATRIX)}, {_csr(_OTHER)})"
        calls[f"{name}/cube"] = f"{function}({_CUBE}, {_CUBE})"
        calls[f"{name}/dtypes"] = f"{function}({_MATRIX}, paddle.sparse.cast({_OTHER}, None, 'int64'))"
        calls[f"{name}/integers"] = f"{function}(paddle.sparse.cast({_MATRIX}, None, 'int32'), {_OTHER})"
        if name != "divide":
            calls[f"{name}/deep"] = f"{function}({_DEEP}, {_DEEP})"
        calls[f"{name}/gradient"] = _gradients(function, _MATRIX, _OTHER)
        calls[f"{name}/gradient csr"] = _gradients(function, _csr(_MATRIX), _csr(_OTHER))
        calls[f"{name}/gradient of one pattern"] = _gradients(function, _MATRIX, _MATRIX)
        calls[f"{name}/raises layouts"] = f"{function}({_MATRIX}, {_csr(_OTHER)})"
        calls[f"{name}/raises shapes"] = f"{function}({_MATRIX}, {_CUBE})"
        calls[f"{name}/raises dense"] = f"{function}({_MATRIX}, t([3, 4]))"
    for number in ("2", "2.5", "True"):
        calls[f"multiply/{number}"] = f"paddle.sparse.multiply({_MATRIX}, {number})"
        calls[f"divide/{number}"] = f"paddle.sparse.divide({_csr(_MATRIX)}, {number})"
        calls[f"add/raises {number}"] = f"paddle.sparse.add({_MATRIX}, {number})"
    calls["multiply/gradient of a number"] = _gradients("lambda x: paddle.sparse.multiply(x, 3.0)", _MATRIX)
    calls["divide/gradient of a number"] = _gradients("lambda x: paddle.sparse.divide(x, 3.0)", _MATRIX)
    calls["add/vector"] = f"paddle.sparse.add({_DEEP}, t([2]))"
    calls["add/itself"] = _gradients("lambda x: paddle.sparse.add(x, x)", _MATRIX)
    calls["add/of functions"] = _gradients(
        "lambda x: paddle.sparse.add(paddle.sparse.sin(x), paddle.sparse.square(x))", _MATRIX
    )
    calls["is_same_shape/all"] = (
        f"x, y, z = {_MATRIX}, {_OTHER}, {_CUBE}\n[paddle.sparse.is_same_shape(a, b) for a, b in "
        "((x, y), (x, z), (x, t([3, 4])), (t([3, 4]), x), (x, y.to_sparse_csr()))]"
    )
    return calls


def _arranged() -> dict[str, str]:
    calls = {}
    for perm in ("[0, 2, 1]", "[2, 0, 1]", "[2, 1, 0]", "[1, 0, 2]", "[0, 1, 2]"):
        calls[f"transpose/{perm}"] = _gradients(f"lambda x: paddle.sparse.transpose(x, {perm})", _CUBE)
        calls[f"transpose/csr {perm}"] = _gradients(
            f"lambda x: paddle.sparse.transpose(x, {perm})", _csr(_CUBE)
        )
    calls["transpose/raises twice"] = f"paddle.sparse.transpose({_CUBE}, [0, 0, 1])"
    for shape in ("[4, 6]", "[-1, 3]", "[0, 12]", "[4, -1, 2]", "[0, -1, 2]"):
        calls[f"reshape/{shape}"] = _gradients(f"lambda x: paddle.sparse.reshape(x, {shape})", _CUBE)
        calls[f"reshape/csr {shape}"] = _gradients(
            f"lambda x: paddle.sparse.reshape(x, {shape})", _csr(_CUBE)
        )
    calls["reshape/[24]"] = _gradients("lambda x: paddle.sparse.reshape(x, [24])", _CUBE)
    calls["reshape/deep"] = _gradients("lambda x: paddle.sparse.reshape(x, [6, -1, 2])", _DEEP)
    for shape in ("[5, 5]", "[-1, -1]"):
        calls[f"reshape/raises {shape}"] = f"paddle.sparse.reshape({_CUBE}, {shape})"
    calls["reshape/raises csr"] = f"paddle.sparse.reshape({_csr(_CUBE)}, [24])"
    for where in (
        "[0], [1], [2]",
        "[1, 2], [1, 0], [3, 3]",
        "[-1], [-3], [-1]",
        "[2], [0], [100]",
        "[0], [5], [6]",
    ):
        calls[f"slice/{where}"] = f"paddle.sparse.slice({_CUBE}, {where})"
        calls[f"slice/csr {where}"] = f"paddle.sparse.slice({_csr(_CUBE)}, {where})"
        calls[f"slice/gradient {where}"] = (
            f"x = {_CUBE}\nx.stop_gradient = False\nfound = paddle.sparse.slice(x, {where})\n"
            "found.backward(paddle.sparse.square(found))\nx.grad.to_dense()"
        )
    calls["slice/raises axis"] = f"paddle.sparse.slice({_CUBE}, [3], [0], [1])"
    calls["slice/raises order"] = f"paddle.sparse.slice({_CUBE}, [2], [3], [1])"
    for axis in ("None", "0", "1", "-1", "[0]", "[]"):
        for keepdim in ("False", "True"):
            calls[f"sum/{axis} {keepdim}"] = _gradients(
                f"lambda x: paddle.sparse.sum(x, {axis}, keepdim={keepdim})", _CUBE
            )
    for axis, keepdim in (("None", "False"), ("None", "True"), ("-1", "False"), ("-1", "True")):
        calls[f"sum/csr {axis} {keepdim}"] = f"paddle.sparse.sum({_csr(_CUBE)}, {axis}, keepdim={keepdim})"
        calls[f"sum/csr matrix {axis} {keepdim}"] = (
            f"paddle.sparse.sum({_csr(_MATRIX)}, {axis}, keepdim={keepdim})"
        )
    for axis in ("0", "1", "2", "None"):
        calls[f"sum/deep {axis}"] = _gradients(f"lambda x: paddle.sparse.sum(x, {axis})", _DEEP)
    flat = "paddle.sparse.sparse_coo_tensor([[0, 2]], t([2, 2, 3]), [4, 2, 3])"
    for axis, keepdim in ((0, False), (0, True), (1, False), (-1, True)):
        call = f"lambda x: paddle.sparse.sum(x, {axis}, keepdim={keepdim})"
        calls[f"sum/rows {axis} {keepdim}"] = _gradients(call, flat)
    for axis in ("0", "None"):
        made = "paddle.sparse.sparse_coo_tensor([[0, 2]], t([2]), [4])"
        calls[f"sum/one dimension {axis}"] = f"paddle.sparse.sum({made}, {axis})"
        calls[f"sum/one dimension {axis} kept"] = f"paddle.sparse.sum({made}, {axis}, keepdim=True)"
    calls["softmax/rows 0"] = _gradients("lambda x: paddle.sparse.nn.functional.softmax(x, 0)", flat)
    calls["sum/dtype"] = f"paddle.sparse.sum({_MATRIX}, 0, dtype='float64')"
    calls["sum/integers"] = f"paddle.sparse.sum(paddle.sparse.cast({_MATRIX}, None, 'int32'), 0)"
    calls["sum/raises axis"] = f"paddle.sparse.sum({_MATRIX}, 2)"
    calls["sum/raises csr"] = f"paddle.sparse.sum({_csr(_MATRIX)}, 0)"
    for axis in (-1, 0, 1, 2, -2):
        calls[f"softmax/{axis}"] = _gradients(
            f"lambda x: paddle.sparse.nn.functional.softmax(x, {axis})", _CUBE
        )
    calls["softmax/csr"] = _gradients("paddle.sparse.nn.functional.softmax", _csr(_CUBE))
    calls["softmax/matrix"] = _gradients("paddle.sparse.nn.functional.softmax", _csr(_MATRIX))
    calls["softmax/deep"] = _gradients("paddle.sparse.nn.functional.softmax", _DEEP)
    calls["softmax/raises csr"] = f"paddle.sparse.nn.functional.softmax({_csr(_MATRIX)}, 0)"
    return calls


def _convolved(call: str, images: str, weight: str) -> str:
    return (
        f"x = {images}\nx.stop_gradient = False\nw = {weight}\nw.stop_gradient = False\n"
        f"F = paddle.sparse.nn.functional\ny = {call}\n"
        "y.backward(paddle.sparse.square(y))\n[y, x.grad, w.grad]"
    )


def _images() -> dict[str, str]:
    calls = {}
    volume, square = "t([2, 2, 2, 2, 3])", "t([2, 2, 2, 3])"
    for name, arguments in {
        "plain": "",
        "stride": ", stride=2, padding=1",
        "dilation": ", dilation=2",
        "paddings": ", padding=[1, 0, 1]",
        "valid": ", padding='VALID'",
        "same": ", padding='SAME'",
        "mixed": ", stride=[1, 2, 1], padding=[0, 1, 1]",
    }.items():
        calls[f"conv3d/{name}"] = _convolved(f"F.conv3d(x, w, None{arguments})", _IMAGES, volume)
        if "[" not in arguments:
            calls[f"conv2d/{name}"] = _convolved(f"F.conv2d(x, w, None{arguments})", _FLAT, square)
    calls["conv3d/bias"] = f"paddle.sparse.nn.functional.conv3d({_IMAGES}, {volume}, t([3], seed=1))"
    calls["conv2d/bias"] = f"paddle.sparse.nn.functional.conv2d({_FLAT}, {square}, t([3], seed=1))"
    for arguments in ("", ", padding=1", ", stride=2", ", key='k'"):
        calls[f"subm_conv3d/{arguments}"] = _convolved(
            f"F.subm_conv3d(x, w, None{arguments})", _IMAGES, "t([3, 3, 3, 2, 3])"
        )
        calls[f"subm_conv2d/{arguments}"] = _convolved(
            f"F.subm_conv2d(x, w, None{arguments})", _FLAT, "t([3, 3, 2, 3])"
        )
    calls["subm_conv3d/bias"] = (
        f"paddle.sparse.nn.functional.subm_conv3d({_IMAGES}, t([3, 1, 3, 2, 3]), t([3]))"
    )
    calls["conv3d/raises groups"] = f"paddle.sparse.nn.functional.conv3d({_IMAGES}, {volume}, groups=2)"
    calls["conv3d/raises format"] = (
        f"paddle.sparse.nn.functional.conv3d({_IMAGES}, {volume}, data_format='NCDHW')"
    )
    calls["conv3d/raises dense"] = f"paddle.sparse.nn.functional.conv3d(t([1, 3, 3, 3, 2]), {volume})"
    calls["conv3d/raises rank"] = f"paddle.sparse.nn.functional.conv3d({_FLAT}, {volume})"
    for arguments in ("2", "3", "2, stride=1", "[2, 2, 2], stride=2, padding=1", "2, ceil_mode=True"):
        calls[f"max_pool3d/{arguments}"] = _gradients(
            f"lambda x: paddle.sparse.nn.functional.max_pool3d(x, {arguments})", _IMAGES
        )
    calls["max_pool3d/raises format"] = (
        f"paddle.sparse.nn.functional.max_pool3d({_IMAGES}, 2, data_format='NCDHW')"
    )
    calls["max_pool3d/raises csr"] = f"paddle.sparse.nn.functional.max_pool3d({_csr(_MATRIX)}, 2)"
    return calls


def _layers() -> dict[str, str]:
    calls = {}
    for name in ("Conv3D", "SubmConv3D", "Conv2D", "SubmConv2D"):
        made = f"paddle.sparse.nn.{name}"
        rank = 3 if "3" in name else 2
        calls[f"{name}/text"] = (
            f"[str(m) for m in ({made}(2, 3, 3), {made}(2, 3, 3, stride=2, padding=1, dilation=2), "
            f"{made}(2, 3, {[1, 2, 3][:rank]}, bias_attr=False))]"
        )
        calls[f"{name}/parameters"] = f"[(p.name, list(p.shape)) for p in {made}(2, 3, 3).parameters()]"
        calls[f"{name}/call"] = f"formula({made}(2, 3, 3, padding=1))({_IMAGES if rank == 3 else _FLAT})"
        calls[f"{name}/raises groups"] = f"{made}(2, 2, 3, groups=2)"
        calls[f"{name}/raises mode"] = f"{made}(2, 2, 3, padding_mode='reflect')"
        calls[f"{name}/raises format"] = f"{made}(2, 2, 3, data_format='NCHW')"
        calls[f"{name}/raises weight"] = f"{made}(2, 2, 3, weight_attr=False)"
    calls["layers/texts"] = (
        "S = paddle.sparse.nn\n[str(m) for m in (S.ReLU(), S.ReLU6(), S.LeakyReLU(0.1), S.Softmax(), "
        "S.ReLU(name='a'), S.MaxPool3D(2), S.MaxPool3D([1, 2, 2], stride=1, padding=1), "
        "S.BatchNorm(2), S.SyncBatchNorm(2), S.BatchNorm(3, 0.8, 1e-3, data_format='NHWC'))]"
    )
    calls["layers/calls"] = (
        f"x = {_MATRIX}\nS = paddle.sparse.nn\n"
        "[m(x) for m in (S.ReLU(), S.ReLU6(), S.LeakyReLU(0.1), S.Softmax(-1))]"
    )
    calls["MaxPool3D/call"] = f"paddle.sparse.nn.MaxPool3D(2, 1)({_IMAGES})"
    calls["BatchNorm/train"] = (
        f"m = formula(paddle.sparse.nn.BatchNorm(2))\nx = {_IMAGES}\nx.stop_gradient = False\ny = m(x)\n"
        "y.backward(paddle.sparse.square(y))\n"
        "[y, x.grad, m._mean.numpy(), m._variance.numpy(), m.weight.grad, m.bias.grad]"
    )
    calls["BatchNorm/twice"] = (
        f"m = paddle.sparse.nn.BatchNorm(2, momentum=0.5)\nm({_IMAGES})\n"
        f"[m(paddle.sparse.square({_IMAGES})), m._mean.numpy()]"
    )
    calls["BatchNorm/2d"] = (
        f"m = formula(paddle.sparse.nn.BatchNorm(2, data_format='NHWC'))\n[m({_FLAT}), m._mean.numpy()]"
    )
    calls["BatchNorm/eval"] = f"m = paddle.sparse.nn.BatchNorm(2)\nm.eval()\n[m({_IMAGES}), m._mean.numpy()]"
    calls["BatchNorm/eval after train"] = (
        f"m = paddle.sparse.nn.BatchNorm(2)\nm({_IMAGES})\nm.eval()\nm(paddle.sparse.square({_IMAGES}))"
    )
    calls["BatchNorm/global"] = f"paddle.sparse.nn.BatchNorm(2, use_global_stats=True)({_IMAGES})"
    calls["BatchNorm/state"] = (
        "m = paddle.sparse.nn.BatchNorm(2)\n[list(m.state_dict()), [p.name for p in m.parameters()]]"
    )
    calls["BatchNorm/raises format"] = f"paddle.sparse.nn.BatchNorm(2, data_format='NCDHW')({_IMAGES})"
    calls["SyncBatchNorm/converted"] = (
        "S = paddle.sparse.nn\nstr(S.SyncBatchNorm.convert_sync_batchnorm("
        "nn.Sequential(S.Conv3D(2, 2, 3), S.BatchNorm(2), nn.Sequential(nn.BatchNorm3D(2), S.ReLU()))))"
    )
    return calls


def _objects() -> dict[str, str]:
    made = {
        "matrix": _MATRIX, "csr": _csr(_MATRIX), "cube": _CUBE, "csr cube": _csr(_CUBE), "deep": _DEEP,
        "integers": f"paddle.sparse.cast({_MATRIX}, 'int32', 'int64')",
        "bool": f"paddle.sparse.isnan({_MATRIX})",
        "large": "paddle.ones([40, 40]).to_sparse_coo(2)",
        "sum": f"paddle.sparse.sum({_MATRIX})"
    }
    calls = {f"print/{name}": f"str({value})" for name, value in made.items()}
    asked = (
        "x.is_sparse(), x.is_sparse_coo(), x.is_sparse_csr(), x.is_dense(), x.nnz(), x.shape, x.ndim, "
        "x.size, len(x), str(x.dtype), x.dim(), str(x.place), x.stop_gradient, x.is_leaf, x.persistable, "
        "x.element_size(), x.is_floating_point(), x.is_same_shape(t([3, 4]))"
    )
    for name in ("matrix", "csr", "cube", "deep", "integers"):
        calls[f"object/{name}"] = f"x = {made[name]}\n[{asked}]"
        calls[f"object/parts {name}"] = (
            f"x = {made[name]}\n[x.values(), x.indices() if x.is_sparse_coo() else [x.crows(), x.cols()]]"
        )
        calls[f"to_dense/{name}"] = f"({made[name]}).to_dense()"
    for name, call in {
        "indices of csr": f"{_csr(_MATRIX)}.indices()",
        "crows of coo": f"{_MATRIX}.crows()",
        "cols of coo": f"{_MATRIX}.cols()",
        "values of dense": "t([2]).values()",
        "nnz of dense": "t([2]).nnz()",
        "to_dense of dense": "t([2]).to_dense()",
        "coalesce of dense": "t([2]).coalesce()",
        "indices of dense": "t([2]).indices()",
        "csr of csr": f"{_csr(_MATRIX)}.to_sparse_csr()",
        "coo of coo": f"{_MATRIX}.to_sparse_coo(2)",
        "no depth": "t([2]).to_sparse_coo()",
        "too deep": "t([2]).to_sparse_coo(2)",
        "not deep": "t([2]).to_sparse_coo(0)",
        "csr of one": "t([2]).to_sparse_csr()",
    }.items():
        calls[f"object/raises {name}"] = call
    dense = "paddle.to_tensor([[[1.0, 0, 2], [0, 0, 0]], [[0, 3, 0], [4, 0, 0]]])"
    for depth in (1, 2, 3):
        calls[f"to_sparse_coo/{depth}"] = f"{dense}.to_sparse_coo({depth})"
    calls["to_sparse_coo/integers"] = "paddle.to_tensor([[1, 0], [0, 2]]).to_sparse_coo(sparse_dim=2)"
    calls["to_sparse_coo/csr"] = f"{_csr(_CUBE)}.to_sparse_coo(3)"
    calls["to_sparse_csr/cube"] = f"{dense}.to_sparse_csr()"
    calls["to_sparse_csr/matrix"] = "paddle.to_tensor([[1, 0], [0, 2]]).to_sparse_csr()"
    calls["to_sparse_coo/gradient"] = (
        f"x = {dense}\nx.stop_gradient = False\nz = x.to_sparse_coo(2)\n"
        "paddle.sparse.square(z).to_dense().sum().backward()\n[x.grad, z.stop_gradient, z.is_leaf]"
    )
    calls["to_dense/gradient"] = (
        f"x = {_MATRIX}\nx.stop_gradient = False\n(x.to_dense() * t([3, 4])).sum().backward()\nx.grad"
    )
    calls["values/gradient"] = (
        f"x = {_MATRIX}\nx.stop_gradient = False\n(x.values() * 2).sum().backward()\nx.grad"
    )
    calls["to_dense/twice"] = (
        "paddle.sparse.sparse_coo_tensor([[0, 0, 1], [1, 1, 0]], [1.0, 2.0, 3.0], [2, 2]).to_dense()"
    )
    for name, body in {
        "accumulated": "for _ in range(2):\n    paddle.sparse.sin(x).to_dense().sum().backward()\nx.grad",
        "text": "paddle.sparse.square(x).to_dense().sum().backward()\nstr(x.grad)",
        "ones": "paddle.sparse.sin(x).backward()\nx.grad",
        "grad": "paddle.grad(paddle.sparse.sin(x).to_dense().sum(), x)",
        "hook": "found = []\nx.register_hook(lambda g: found.append(g.to_dense().numpy()))\n"
        "paddle.sparse.sin(x).to_dense().sum().backward()\nfound",
        "hook replaces": "x.register_hook(lambda g: paddle.sparse.multiply(g, 2.0))\n"
        "paddle.sparse.sin(x).to_dense().sum().backward()\nx.grad",
        "no_grad": "with paddle.no_grad():\n    y = paddle.sparse.sin(x)\n[y.stop_gradient, x.is_leaf]",
        "detach": "[x.detach().stop_gradient, paddle.sparse.sin(x).stop_gradient]",
    }.items():
        calls[f"gradient/{name}"] = f"x = {_MATRIX}\nx.stop_gradient = False\n{body}"
    calls["gradient/of given values"] = (
        "v = paddle.to_tensor([1.0, 2.0], stop_gradient=False)\n"
        "x = paddle.sparse.sparse_coo_tensor([[0, 1]], v, [3], stop_gradient=False)\n"
        "paddle.sparse.square(x).to_dense().sum().backward()\n[v.grad, x.grad, x.is_leaf]"
    )
    calls["gradient/retained"] = (
        "v = paddle.to_tensor([1.0, 2.0], stop_gradient=False)\n"
        "x = paddle.sparse.sparse_coo_tensor([[0, 1]], v, [3], stop_gradient=False)\nx.retain_grads()\n"
        "paddle.sparse.square(x).to_dense().sum().backward()\nx.grad"
    )
    calls["gradient/given values stop"] = (
        "v = paddle.to_tensor([1.0, 2.0], stop_gradient=False)\n"
        "x = paddle.sparse.sparse_coo_tensor([[0, 1]], v, [3])\n[v.stop_gradient, x.stop_gradient]"
    )
    calls["object/values are shared"] = (
        "v = paddle.to_tensor([1.0, 2.0])\nx = paddle.sparse.sparse_coo_tensor([[0, 1]], v, [3])\n"
        "y = paddle.sparse.sparse_csr_tensor([0, 1, 2], [0, 1], v, [2, 2])\nv.add_(paddle.ones([2]))\n"
        "x.values().add_(paddle.ones([2]))\n[v, x, y]"
    )
    calls["object/deepcopy"] = f"import copy\nx = {_MATRIX}\ny = copy.deepcopy(x)\nx.values().zero_()\ny"
    return calls


def _created() -> dict[str, str]:
    coo, csr = "paddle.sparse.sparse_coo_tensor", "paddle.sparse.sparse_csr_tensor"
    calls = {
        "sparse_coo_tensor/smallest": f"{coo}([[0, 1], [2, 3]], [1.0, 2.0])",
        "sparse_coo_tensor/tuples": f"{coo}(((0, 1), (2, 3)), (1, 2), (4, 4))",
        "sparse_coo_tensor/arrays": f"{coo}(np.array([[0, 1], [2, 3]]), np.array([1.0, 2.0]), [4, 4])",
        "sparse_coo_tensor/dtype": f"{coo}([[0, 1]], [1, 2], [4], dtype='float64')",
        "sparse_coo_tensor/dtype of a tensor": f"{coo}([[0, 1]], paddle.to_tensor([1, 2]), [4], 'float32')",
        "sparse_coo_tensor/place": f"{coo}([[0, 1]], [1.0, 2.0], [4], place='cpu')",
        "sparse_coo_tensor/deep": f"{coo}([[0, 1]], [[1.0, 2], [3, 4]])",
        "sparse_coo_tensor/int32": f"{coo}(np.array([[0, 1]], 'int32'), [1.0, 2.0])",
        "sparse_coo_tensor/shape tensor": f"{coo}([[0, 1]], [1.0, 2.0], paddle.to_tensor([3]))",
        "sparse_coo_tensor/gradient": f"{coo}([[0, 1]], [1.0, 2.0], stop_gradient=False)",
        "sparse_csr_tensor/plain": f"{csr}([0, 1, 1, 3], [1, 0, 2], [1, 2, 3], [3, 4])",
        "sparse_csr_tensor/tuples": f"{csr}((0, 1, 1), (0,), (1,), (2, 2))",
        "sparse_csr_tensor/dtype": f"{csr}([0, 1, 1], [0], [1], [2, 2], dtype='float64')",
        "sparse_csr_tensor/cube": f"{csr}([0, 1, 2, 0, 1, 1], [0, 1, 2], [1.0, 2, 3], [2, 2, 3])",
        "sparse_csr_tensor/int32": f"{csr}(ints([3], 1, 'int32'), ints([0], 1, 'int32'), [], [2, 2])",
        "sparse_csr_tensor/gradient": f"{csr}([0, 1, 1], [0], [1.0], [2, 2], stop_gradient=False)",
    }
    for name, call in {
        "one number": f"{coo}([[0]], 3.0, [4])",
        "floating indices": f"{coo}([[0.0, 1.0]], [1.0, 2.0], [4])",
        "uint8": f"{coo}(np.array([[0, 1]], 'uint8'), [1.0, 2.0])",
        "one dimension": f"{coo}([0, 1], [1.0, 2.0], [4])",
        "counts": f"{coo}([[0, 1]], [1.0, 2.0, 3.0], [4])",
        "small": f"{coo}([[0, 5]], [1.0, 2.0], [4])",
        "dimensions": f"{coo}([[0, 1]], [1.0, 2.0], [4, 4])",
        "place": f"{coo}([[0, 1]], [1.0, 2.0], [4], place=3)",
    }.items():
        calls[f"sparse_coo_tensor/raises {name}"] = call
    for name, call in {
        "rows": "[0, 1], [0], [1.0], [2, 2]",
        "begin": "[1, 1, 1], [0], [1.0], [2, 2]",
        "end": "[0, 1, 2], [0], [1.0], [2, 2]",
        "cols": "[0, 1, 1], [0, 1], [1.0], [2, 2]",
        "one dimension": "[0, 1], [0], [1.0], [2]",
        "four": "[0, 1], [0], [1.0], [2, 2, 2, 2]",
        "values": "[0, 1, 1], [0], [[1.0]], [2, 2]",
        "cube": "[0, 1, 1, 0], [0], [1.0], [2, 2, 2]",
        "floating": "[0.0, 1, 1], [0], [1.0], [2, 2]",
    }.items():
        calls[f"sparse_csr_tensor/raises {name}"] = f"{csr}({call})"
    return calls


def _static(body: str, feed: str, extra: str = "") -> str:
    return (
        "paddle.enable_static()\nS = paddle.sparse\n"
        "main, start = paddle.static.Program(), paddle.static.Program()\n"
        f"with paddle.static.program_guard(main, start):\n{extra}"
        "    x = S.sparse_coo_tensor(i, v, shape=shape, dtype='float32')\n"
        f"    found = {body}\nexe = paddle.static.Executor()\nexe.run(start)\n"
        f"values = exe.run(main, feed={feed}, fetch_list=list(found))\npaddle.disable_static()\nvalues"
    )


def _programs() -> dict[str, str]:
    matrix = (
        "    shape = [3, 3]\n    i = paddle.static.data('i', [2, 3], 'int64')\n"
        "    v = paddle.static.data('v', [3], 'float32')\n"
    )
    images = (
        "    shape = [1, 3, 3, 3, 2]\n    i = paddle.static.data('i', [4, 3], 'int64')\n"
        "    v = paddle.static.data('v', [3, 2], 'float32')\n"
    )
    fed = "{'i': np.array([[0, 1, 2], [1, 2, 0]]), 'v': np.array([1.0, -2.0, 3.0], 'float32')}"
    drawn = (
        "{'i': np.array([[0, 0, 0], [0, 1, 2], [0, 1, 1], [0, 2, 2]]), "
        "'v': np.array([[1.0, 2], [3, -4], [5, 6]], 'float32')}"
    )
    calls = {}
    for name, body in {
        "relu": "[S.nn.functional.relu(x).to_dense()]",
        "parts": "[S.nn.functional.relu(x).indices(), S.nn.functional.relu(x).values()]",
        "add": "[S.add(x, S.nn.functional.relu(x)).to_dense()]",
        "sum": "[S.sum(x, 0).to_dense(), S.sum(x, 1, keepdim=True).to_dense()]",
        "reshape": "[S.reshape(x, [1, 9]).to_dense()]",
        "slice": "[S.slice(x, [0], [1], [3]).to_dense()]",
        "isnan": "[S.isnan(x).to_dense()]",
        "softmax": "[S.nn.functional.softmax(x).to_dense()]",
    }.items():
        calls[f"static/{name}"] = _static(body, fed, matrix)
    ones = "weight_attr=paddle.nn.initializer.Constant(1.0)"
    for name, body in {
        "conv3d": f"[S.nn.Conv3D(2, 2, 2, {ones})(x).to_dense()]",
        "subm_conv3d": f"[S.nn.SubmConv3D(2, 2, 3, {ones})(x).to_dense()]",
        "batch_norm": "[S.nn.BatchNorm(2)(x).to_dense()]",
    }.items():
        calls[f"static/{name}"] = _static(body, drawn, images)
    return calls


CALLS = {
    **_objects(),
    **_created(),
    **_unary(),
    **_binary(),
    **_arranged(),
    **_images(),
    **_layers(),
    **_programs(),
}
