"""Products, norms, distances, einsum; decompositions, systems, inverses, determinants."""

# Matrices that are far from singular, and symmetric positive definite ones.
_SQUARE = "(t([3, 3], 'float64') + 2 * paddle.eye(3, dtype='float64'))"
_SQUARES = "(t([2, 3, 3], 'float64') + 2 * paddle.eye(3, dtype='float64'))"
_DEFINITE = "(lambda a: paddle.matmul(a, a, transpose_y=True) + paddle.eye(3, dtype='float64'))"
_SPD = f"{_DEFINITE}(t([3, 3], 'float64'))"
_TALL, _WIDE = "t([4, 2], 'float64')", "t([2, 4], 'float64')"
_SINGULAR = "paddle.to_tensor([[1.0, 2.0], [2.0, 4.0]])"


def _norms() -> dict[str, str]:
    calls = {}
    for p in ("'fro'", "0", "1", "2", "3", "0.5", "float('inf')", "-float('inf')"):
        for axis in ("", ", axis=0", ", axis=-1, keepdim=True", ", axis=[1]"):
            calls[f"norm/{p}{axis}"] = f"paddle.norm(t([2, 3]), p={p}{axis})"
            calls[f"norm/gradient {p}{axis}"] = (
                f"grad(lambda x: paddle.norm(x, {p}{axis}), t([2, 3], 'float64'))"
            )
    for p in ("'fro'", "1", "2", "3", "float('inf')", "-float('inf')"):
        for axis in ("[0, 1]", "[0, 2]", "[1, 2], keepdim=True"):
            calls[f"norm/{p} matrix {axis}"] = f"paddle.norm(t([2, 3, 2]), p={p}, axis={axis})"
    for p in ("0", "1", "2", "3.5", "float('inf')", "-float('inf')"):
        calls[f"dist/{p}"] = f"paddle.dist(t([2, 3]), t([3], seed=1), p={p})"
        if not p.startswith("-"):
            calls[f"cdist/{p}"] = f"paddle.cdist(t([3, 4]), t([2, 4], seed=1), p=float({p}))"
    return calls


_EINSUM = {
    "ij,jk->ik": "t([2, 3]), t([3, 4], seed=1)",
    "ij,jk": "t([2, 3]), t([3, 4], seed=1)",
    "ij->ji": "t([2, 3])",
    "ii": "t([3, 3])",
    "ii->i": "t([3, 3])",
    "ij->": "t([2, 3])",
    "ij->j": "t([2, 3])",
    "i,j->ij": "t([2]), t([3], seed=1)",
    "i,i->": "t([3]), t([3], seed=1)",
    "ij,ij->i": "t([2, 3]), t([2, 3], seed=1)",
    "bij,bjk->bik": "t([2, 3, 2]), t([2, 2, 4], seed=1)",
    "bij,bkj->bik": "t([2, 3, 2]), t([2, 4, 2], seed=1)",
    "...ij,...jk->...ik": "t([2, 3, 2]), t([2, 2, 4], seed=1)",
    "...ij->...ji": "t([2, 3, 4])",
    "ij,jk,kl->il": "t([2, 3]), t([3, 2], seed=1), t([2, 4], seed=2)",
    "bhid,bhjd->bhij": "t([1, 2, 3, 2]), t([1, 2, 4, 2], seed=1)",
    "ba": "t([2, 3])",
    "abc,cd->abd": "t([2, 2, 3]), t([3, 2], seed=1)",
    "i j , j k -> i k": "t([2, 3]), t([3, 4], seed=1)",
}


def _einsum() -> dict[str, str]:
    calls = {}
    for equation, operands in _EINSUM.items():
        calls[f"einsum/{equation}"] = f"paddle.einsum({equation!r}, {operands})"
        calls[f"einsum/gradient {equation}"] = f"grad(lambda *x: paddle.einsum({equation!r}, *x), {operands})"
    return calls


CALLS: dict[str, str] = {
    **_norms(),
    **_einsum(),
    "norm/0-d": "paddle.norm(paddle.to_tensor(-3.0))",
    "norm/zero gradient": "grad(paddle.norm, paddle.zeros([2, 2]))",
    "norm/keepdim": "paddle.norm(t([2, 3]), keepdim=True)",
    "norm/ties": "grad(lambda x: paddle.norm(x, float('inf')), paddle.to_tensor([1.0, -3.0, 3.0]))",
    "norm/raises for a name": "paddle.norm(t([2, 3]), 'nuc')",
    "norm/raises for axis": "paddle.norm(t([2, 3]), 2, axis=2)",
    "norm/raises for 0 over two": "paddle.norm(t([2, 3]), 0, axis=[0, 1])",
    "norm/raises for int64": "paddle.norm(ints([3], 5))",
    "dist/gradient": "grad(paddle.dist, t([2, 3]), t([2, 3], seed=1))",
    "dist/gradient at 0": "grad(paddle.dist, t([2, 3]), t([2, 3]))",
    "cdist/batch": "paddle.cdist(t([2, 1, 3, 4]), t([3, 2, 4], seed=1))",
    "cdist/many": "paddle.cdist(t([30, 4]), t([28, 4], seed=1))",
    "cdist/by product": "paddle.cdist(t([3, 4]), t([2, 4], seed=1), compute_mode='use_mm_for_euclid_dist')",
    "cdist/gradient": "grad(paddle.cdist, t([3, 4], 'float64'), t([2, 4], 'float64', seed=1))",
    "cdist/raises for p": "paddle.cdist(t([3, 4]), t([2, 4]), p=-1.0)",
    "cdist/raises for dimensions": "paddle.cdist(t([4]), t([2, 4]))",
    "cdist/raises for mode": "paddle.cdist(t([3, 4]), t([2, 4]), compute_mode='x')",
    "einsum/raises for operands": "paddle.einsum('ij', t([2, 2]), t([2, 2]))",
    "einsum/raises for dimensions": "paddle.einsum('ijk->i', t([2, 2]))",
    "einsum/raises for an unknown index": "paddle.einsum('ij,jk->iz', t([2, 2]), t([2, 2]))",
    "matmul/": "paddle.matmul(t([2, 3]), t([3, 4], seed=1))",
    "matmul/transposed": "paddle.matmul(t([3, 2]), t([4, 3], seed=1), transpose_x=True, transpose_y=True)",
    "matmul/batch": "paddle.matmul(t([2, 1, 2, 3]), t([3, 3, 2], seed=1))",
    "matmul/vectors": (
        "[paddle.matmul(t([3]), t([3])), paddle.matmul(t([2, 3]), t([3])), paddle.matmul(t([3]), t([3, "
        "2]))]"
    ),
    "matmul/gradient": "grad(paddle.matmul, t([2, 2, 3]), t([3, 2], seed=1))",
    "matmul/gradient of vectors": "grad(paddle.matmul, t([2, 3]), t([3], seed=1))",
    "matmul/int64": "paddle.matmul(ints([2, 3], 9), ints([3, 2], 9, seed=1))",
    "matmul/raises for shapes": "paddle.matmul(t([2, 3]), t([2, 3]))",
    "matmul/raises for 0-d": "paddle.matmul(t([]), t([3]))",
    "mm/": "paddle.mm(t([2, 3]), t([3, 4], seed=1))",
    "mm/raises for shapes": "paddle.mm(t([2, 3]), t([2, 3]))",
    "bmm/": "paddle.bmm(t([2, 2, 3]), t([2, 3, 4], seed=1))",
    "bmm/gradient": "grad(paddle.bmm, t([2, 2, 3]), t([2, 3, 2], seed=1))",
    "bmm/raises for dimensions": "paddle.bmm(t([2, 3]), t([3, 2]))",
    "bmm/raises for batch": "paddle.bmm(t([2, 2, 3]), t([3, 3, 2]))",
    "mv/": "paddle.mv(t([2, 3]), t([3], seed=1))",
    "mv/gradient": "grad(paddle.mv, t([2, 3]), t([3], seed=1))",
    "mv/raises for a matrix": "paddle.mv(t([2, 3]), t([3, 2]))",
    "dot/": "paddle.dot(t([3]), t([3], seed=1))",
    "dot/rows": "paddle.dot(t([2, 3]), t([2, 3], seed=1))",
    "dot/int64": "paddle.dot(ints([3], 9), ints([3], 9, seed=1))",
    "dot/gradient": "grad(paddle.dot, t([2, 3]), t([2, 3], seed=1))",
    "dot/raises for shapes": "paddle.dot(t([3]), t([4]))",
    "inner/": "paddle.inner(t([2, 3]), t([4, 3], seed=1))",
    "inner/3-d": "paddle.inner(t([2, 2, 3]), t([4, 2, 3], seed=1))",
    "inner/vectors": "[paddle.inner(t([3]), t([3])), paddle.inner(t([2, 3]), t([3]))]",
    "inner/number": "paddle.inner(paddle.to_tensor(2.0), t([3]))",
    "inner/gradient": "grad(paddle.inner, t([2, 3]), t([4, 3], seed=1))",
    "inner/raises for shapes": "paddle.inner(t([2, 3]), t([2]))",
    "outer/": "paddle.outer(t([2, 2]), t([3], seed=1))",
    "outer/number": "paddle.outer(paddle.to_tensor(2.0), t([3]))",
    "outer/int64": "paddle.outer(ints([2], 9), ints([3], 9))",
    "outer/gradient": "grad(paddle.outer, t([2]), t([3], seed=1))",
    "addmm/": "paddle.addmm(t([2, 4]), t([2, 3], seed=1), t([3, 4], seed=2), beta=0.5, alpha=2.0)",
    "addmm/broadcast": (
        "[paddle.addmm(t(s), t([2, 3], seed=1), t([3, 4], seed=2)) for s in ([1, 4], [4], [2, 1])]"
    ),
    "addmm/gradient": (
        "grad(lambda i, x, y: paddle.addmm(i, x, y, 0.5, 2.0), t([2, 4]), t([2, 3], seed=1), t([3, 4], "
        "seed=2))"
    ),
    "addmm/raises for input": "paddle.addmm(t([3]), t([2, 3]), t([3, 4]))",
    "addmm/raises for vectors": "paddle.addmm(t([2, 4]), t([3]), t([3, 4]))",
    "cross/": "paddle.cross(t([2, 3]), t([2, 3], seed=1))",
    "cross/axis": "paddle.cross(t([3, 3]), t([3, 3], seed=1), axis=1)",
    "cross/first axis of 3": "paddle.cross(t([3, 3]), t([3, 3], seed=1))",
    "cross/gradient": "grad(paddle.cross, t([2, 3]), t([2, 3], seed=1))",
    "cross/raises for no 3": "paddle.cross(t([2, 2]), t([2, 2]))",
    "cross/raises for axis": "paddle.cross(t([2, 3]), t([2, 3]), axis=0)",
    "kron/": "paddle.kron(t([2, 3]), t([3, 2], seed=1))",
    "kron/ranks": (
        "[paddle.kron(t([2, 3]), t([2])), paddle.kron(t([2]), t([2, 3])), "
        "paddle.kron(paddle.to_tensor(2.0), t([3]))]"
    ),
    "kron/int64": "paddle.kron(ints([2, 2], 9), ints([2, 2], 9, seed=1))",
    "kron/gradient": "grad(paddle.kron, t([2, 2]), t([2, 3], seed=1))",
    "trace/": (
        "[paddle.trace(t([3, 3])), paddle.trace(t([2, 3]), offset=1), paddle.trace(t([2, 3]), offset=-1)]"
    ),
    "trace/axes": "paddle.trace(t([2, 3, 4]), axis1=0, axis2=2)",
    "trace/int64": "paddle.trace(ints([3, 3], 9))",
    "trace/gradient": "grad(lambda x: paddle.trace(x, 1, 0, 2), t([2, 3, 4]))",
    "trace/raises for a vector": "paddle.trace(t([3]))",
    "tensordot/": "[paddle.tensordot(t([2, 3]), t([3, 4], seed=1), a) for a in (1, 0, [[1], [0]])]",
    "tensordot/two": "paddle.tensordot(t([2, 3, 4]), t([3, 4, 5], seed=1), 2)",
    "tensordot/lists": "paddle.tensordot(t([2, 3, 4]), t([4, 2, 5], seed=1), [[0, 2], [1, 0]])",
    "tensordot/one list": "paddle.tensordot(t([2, 3]), t([2, 3], seed=1), [0, 1])",
    "tensordot/gradient": "grad(lambda x, y: paddle.tensordot(x, y, 1), t([2, 3]), t([3, 4], seed=1))",
    "multi_dot/": "paddle.linalg.multi_dot([t([2, 5]), t([5, 3], seed=1), t([3, 4], seed=2)])",
    "multi_dot/vectors": "paddle.linalg.multi_dot([t([5]), t([5, 3], seed=1), t([3], seed=2)])",
    "multi_dot/gradient": (
        "grad(lambda *x: paddle.linalg.multi_dot(list(x)), t([2, 5]), t([5, 3], seed=1), t([3, 4], seed=2))"
    ),
    "multi_dot/raises for one": "paddle.linalg.multi_dot([t([2, 2])])",
    "vander/": "[paddle.vander(t([3])), paddle.vander(t([3]), 2), paddle.vander(t([3]), 4, increasing=True)]",
    "vander/int64": "paddle.vander(paddle.to_tensor([1, 2, 3]), n=3)",
    "vander/few": "[paddle.vander(t([3]), 1), paddle.vander(t([3]), 0)]",
    "vander/gradient": "grad(paddle.vander, t([3]))",
    "vander/raises for a matrix": "paddle.vander(t([2, 2]))",
    "renorm/": "[paddle.renorm(t([2, 3]), 2.0, a, 0.7) for a in (0, 1, -1)]",
    "renorm/p": "paddle.renorm(t([2, 3, 2]), 1.0, 1, 1.0)",
    "renorm/gradient": "grad(lambda x: paddle.renorm(x, 2.0, 0, 0.7), t([2, 3], 'float64'))",
    "cholesky/": f"paddle.linalg.cholesky({_SPD})",
    "cholesky/upper": f"paddle.linalg.cholesky({_SPD}, upper=True)",
    "cholesky/gradient": f"grad(lambda x: paddle.linalg.cholesky({_DEFINITE}(x)), t([3, 3], 'float64'))",
    "cholesky/gradient of the matrix": f"grad(paddle.linalg.cholesky, {_SPD})",
    "cholesky/raises for indefinite": "paddle.linalg.cholesky(paddle.to_tensor([[1.0, 2.0], [2.0, 1.0]]))",
    "cholesky/raises for wide": "paddle.linalg.cholesky(t([2, 3]))",
    "cholesky_solve/": f"paddle.linalg.cholesky_solve(t([3, 2], 'float64'), paddle.linalg.cholesky({_SPD}))",
    "cholesky_solve/upper": (
        f"paddle.linalg.cholesky_solve(t([3, 2], 'float64'), paddle.linalg.cholesky({_SPD}, upper=True), "
        f"upper=True)"
    ),
    "cholesky_solve/gradient": (
        f"grad(paddle.linalg.cholesky_solve, t([3, 2], 'float64'), paddle.linalg.cholesky({_SPD}))"
    ),
    "det/": f"[paddle.linalg.det({_SQUARE}), paddle.linalg.det({_SQUARES})]",
    "det/gradient": f"grad(paddle.linalg.det, {_SQUARES})",
    "det/raises for wide": "paddle.linalg.det(t([2, 3]))",
    "slogdet/": f"[paddle.linalg.slogdet({_SQUARE}), paddle.linalg.slogdet({_SQUARES})]",
    "slogdet/singular": f"paddle.linalg.slogdet({_SINGULAR})",
    "inv/": f"[paddle.linalg.inv({_SQUARE}), paddle.inverse({_SQUARES})]",
    "inv/gradient": f"grad(paddle.linalg.inv, {_SQUARES})",
    "inv/raises for singular": f"paddle.linalg.inv({_SINGULAR})",
    "inv/raises for wide": "paddle.linalg.inv(t([2, 3]))",
    "solve/": (
        f"[paddle.linalg.solve({_SQUARE}, t([3, 2], 'float64')), paddle.linalg.solve({_SQUARE}, t([3], "
        f"'float64'))]"
    ),
    "solve/batch": f"paddle.linalg.solve({_SQUARES}, t([2, 3, 2], 'float64'))",
    "solve/batch of vectors": f"paddle.linalg.solve({_SQUARES}, t([2, 3], 'float64'))",
    "solve/gradient": f"grad(paddle.linalg.solve, {_SQUARE}, t([3, 2], 'float64'))",
    "solve/raises for singular": f"paddle.linalg.solve({_SINGULAR}, t([2, 1]))",
    "triangular_solve/": (
        f"[paddle.linalg.triangular_solve({_SQUARE}, t([3, 2], 'float64'), u, v, w) "
        "for u in (True, False) for v in (True, False) for w in (True, False)]"
    ),
    "triangular_solve/gradient": f"grad(paddle.linalg.triangular_solve, {_SQUARE}, t([3, 2], 'float64'))",
    "triangular_solve/gradient transposed": (
        f"grad(lambda x, y: paddle.linalg.triangular_solve(x, y, False, True, True), {_SQUARE}, t([3, 2], "
        f"'float64'))"
    ),
    "svd/values": f"[paddle.linalg.svd(x)[1] for x in ({_TALL}, {_WIDE}, {_SQUARES})]",
    "svd/product": f"u, s, v = paddle.linalg.svd({_TALL})\npaddle.matmul(u * s, v)",
    "svd/shapes": (
        f"[[list(p.shape) for p in paddle.linalg.svd(x, full_matrices=f)] for x in ({_TALL}, {_WIDE}) for f "
        f"in (True, False)]"
    ),
    "svd/gradient of values": f"grad(lambda x: paddle.linalg.svd(x)[1], {_TALL})",
    "svd/gradient": f"grad(lambda x: [p * p for p in paddle.linalg.svd(x)], {_WIDE})",
    "qr/": f"[paddle.linalg.qr(x) for x in ({_TALL}, {_WIDE}, {_SQUARES})]",
    "qr/complete": f"paddle.linalg.qr({_TALL}, mode='complete')",
    "qr/r": f"paddle.linalg.qr({_TALL}, mode='r')",
    "qr/gradient": f"grad(paddle.linalg.qr, {_TALL})",
    "qr/gradient square": f"grad(paddle.linalg.qr, {_SQUARE})",
    "qr/raises for mode": f"paddle.linalg.qr({_TALL}, mode='x')",
    "eigh/values": (
        f"[paddle.linalg.eigh({_SPD})[0], paddle.linalg.eigvalsh({_SPD}), paddle.linalg.eigvalsh({_SPD}, "
        f"'U')]"
    ),
    "eigh/product": f"w, v = paddle.linalg.eigh({_SPD})\npaddle.matmul(v * w, v, transpose_y=True)",
    "eigh/gradient of values": f"grad(paddle.linalg.eigvalsh, {_SPD})",
    "eigh/gradient": f"grad(lambda x: [paddle.linalg.eigh(x)[0], paddle.linalg.eigh(x)[1] ** 2], {_SPD})",
    "eigh/raises for wide": "paddle.linalg.eigh(t([2, 3]))",
    "eig/dtypes": "[p.dtype for d in ('float32', 'float64') for p in paddle.linalg.eig(t([3, 3], d))]",
    "eig/product": (
        "x = t([3, 3], 'float64').astype('complex128')\nw, v = paddle.linalg.eig(x)\n"
        "paddle.abs(paddle.matmul(x, v) - v * w) < 1e-9"
    ),
    "eigvals/": "sorted(np.round(np.abs(paddle.linalg.eigvals(t([4, 4], 'float64')).numpy()), 6).tolist())",
    "lu/": f"[paddle.linalg.lu(x) for x in ({_SQUARE}, {_TALL}, {_WIDE}, {_SQUARES})]",
    "lu/infos": f"paddle.linalg.lu({_SQUARES}, get_infos=True)",
    "lu/raises without pivot": f"paddle.linalg.lu({_SQUARE}, pivot=False)",
    "lu/gradient": f"grad(lambda x: paddle.linalg.lu(x)[0], {_SQUARE})",
    "lu_unpack/": (
        f"[paddle.linalg.lu_unpack(*paddle.linalg.lu(x)) for x in ({_SQUARE}, {_TALL}, {_WIDE}, {_SQUARES})]"
    ),
    "matrix_power/": f"[paddle.linalg.matrix_power({_SQUARE}, n) for n in (0, 1, 2, 3, 5, -1, -2)]",
    "matrix_power/gradient": f"grad(lambda x: paddle.linalg.matrix_power(x, 3), {_SQUARE})",
    "matrix_power/gradient of inverse": f"grad(lambda x: paddle.linalg.matrix_power(x, -2), {_SQUARE})",
    "matrix_power/raises for a fraction": f"paddle.linalg.matrix_power({_SQUARE}, 1.5)",
    "matrix_rank/": (
        f"[paddle.linalg.matrix_rank(x) for x in ({_SQUARE}, {_TALL}, {_SINGULAR}, paddle.ones([2, 3, 3]))]"
    ),
    "matrix_rank/tolerance": (
        f"[paddle.linalg.matrix_rank({_SQUARE}, tol=2.5), paddle.linalg.matrix_rank({_SPD}, 1.5, True)]"
    ),
    "matrix_rank/tensor": (
        f"paddle.linalg.matrix_rank({_SQUARES}, tol=paddle.to_tensor([0.1, 9.0], dtype='float64'))"
    ),
    "matrix_rank/raises for a vector": "paddle.linalg.matrix_rank(t([3]))",
    "pinv/": f"[paddle.linalg.pinv(x) for x in ({_SQUARE}, {_TALL}, {_WIDE})]",
    "pinv/rcond": f"paddle.linalg.pinv({_SQUARE}, rcond=0.5)",
    "pinv/hermitian": f"paddle.linalg.pinv({_SPD}, hermitian=True)",
    "pinv/gradient": f"grad(paddle.linalg.pinv, {_TALL})",
    "lstsq/": (
        f"[list(paddle.linalg.lstsq({_TALL}, t([4, 3], 'float64', seed=1), driver=d)) for d in ('gels', "
        f"'gelsy', 'gelsd')]"
    ),
    "lstsq/wide": f"paddle.linalg.lstsq({_WIDE}, t([2, 3], 'float64', seed=1))[0]",
    "lstsq/raises for rows": f"paddle.linalg.lstsq({_TALL}, t([3, 3], 'float64'))",
    "cond/": (
        f"[paddle.linalg.cond({_SQUARE}, p) for p in (None, 2, -2, 'fro', 'nuc', 1, -1, float('inf'), "
        f"-float('inf'))]"
    ),
    "cond/tall": f"paddle.linalg.cond({_TALL})",
    "cond/gradient": f"grad(paddle.linalg.cond, {_TALL})",
    "cond/raises for p": f"paddle.linalg.cond({_SQUARE}, 3)",
    "householder_product/": (
        "paddle.linalg.householder_product(t([4, 3], 'float64'), t([3], 'float64', seed=1))"
    ),
    "householder_product/batch": "paddle.linalg.householder_product(t([2, 4, 3]), t([2, 2], seed=1))",
    "pca_lowrank/shapes": "[p.shape for p in paddle.linalg.pca_lowrank(t([5, 4]), q=2)]",
    "pca_lowrank/raises for q": "paddle.linalg.pca_lowrank(t([5, 4]), q=9)",
    "methods": (
        f"x = {_SPD}\n[x.cholesky(), x.inverse(), x.pinv(), x.matrix_power(2), x.trace(), x.norm(), "
        f"x.cond(), "
        "x.mm(x), x.solve(x), x.qr()[1]]"
    )
}
# Paddle adds 1e-12 to the norm, or 1e-7, in the gradient as well.
TOLERANCES = {name: 1e-6 for name in CALLS if name.startswith(("norm/gradient 3", "renorm/gradient"))}
