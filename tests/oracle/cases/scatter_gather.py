"""Recorded calls: picking elements by index, putting them, masks."""

CALLS: dict[str, str] = {
    "gather": "paddle.gather(t([4, 3]), paddle.to_tensor([2, 0]))",
    "gather/axis": "paddle.gather(t([4, 3]), paddle.to_tensor([2, 0, 2]), axis=1)",
    "gather/axis_tensor": "paddle.gather(t([4, 3]), paddle.to_tensor([2, 0]), axis=paddle.to_tensor(1))",
    "gather/0d": "paddle.gather(t([4, 3]), paddle.to_tensor(1))",
    "gather/int32": "paddle.gather(t([4]), paddle.to_tensor([1, 3], dtype='int32'))",
    "gather/column": "paddle.gather(t([4, 3]), paddle.to_tensor([[2], [0]]))",
    "gather/raises float_index": "paddle.gather(t([4, 3]), t([2]))",
    "gather/grad": "grad(lambda x: paddle.gather(x, paddle.to_tensor([1, 1, 0])), t([3, 2]))",
    "gather_nd": "paddle.gather_nd(t([2, 3, 4]), paddle.to_tensor([[0, 1], [1, 2]]))",
    "gather_nd/full": "paddle.gather_nd(t([2, 3]), paddle.to_tensor([[0, 1], [1, 2]]))",
    "gather_nd/1d": "paddle.gather_nd(t([2, 3]), paddle.to_tensor([1]))",
    "gather_nd/empty": "paddle.gather_nd(t([2, 3]), paddle.zeros([2, 0], dtype='int64'))",
    "gather_nd/grad": (
        "grad(lambda x: paddle.gather_nd(x, paddle.to_tensor([[1, 1], [1, 1], [0, 2]])), t([2, 3]))"
    ),
    "gather_nd/raises too_long": "paddle.gather_nd(t([2, 3]), paddle.to_tensor([[0, 1, 1]]))",
    "gather_nd/raises beyond": "paddle.gather_nd(t([2, 3]), paddle.to_tensor([[0, 3]]))",
    "scatter/overwrite": "paddle.scatter(paddle.ones([4, 2]), paddle.to_tensor([2, 1, 0]), t([3, 2]))",
    "scatter/add": "paddle.scatter(t([3, 2]), paddle.to_tensor([2, 1, 0, 1]), t([4, 2]), overwrite=False)",
    "scatter/1d": "paddle.scatter(t([4]), paddle.to_tensor([1, 3]), paddle.to_tensor([9.0, 8.0]))",
    "scatter/0d_index": "paddle.scatter(t([4, 2]), paddle.to_tensor(1), paddle.to_tensor([9.0, 8.0]))",
    "scatter/grad": "grad(lambda x, u: paddle.scatter(x, paddle.to_tensor([2, 0]), u), t([3, 2]), t([2, 2]))",
    "scatter/grad_add": (
        "grad(lambda x, u: paddle.scatter(x, paddle.to_tensor([2, 0, 2]), u, False), t([3, 2]), t([3, 2]))"
    ),
    "scatter_": "x = paddle.ones([3, 2])\nx.scatter_(paddle.to_tensor([1]), t([1, 2]))\nx",
    "scatter/raises shape": "paddle.scatter(paddle.ones([4, 2]), paddle.to_tensor([2, 1]), t([2, 3]))",
    "scatter_nd": "paddle.scatter_nd(paddle.to_tensor([[1], [1], [0]]), t([3, 2]), [3, 2])",
    "scatter_nd_add": "paddle.scatter_nd_add(t([3, 2]), paddle.to_tensor([[1, 1], [1, 1], [0, 0]]), t([3]))",
    "scatter_nd_add/rows": "paddle.scatter_nd_add(t([3, 2]), paddle.to_tensor([[1], [1]]), t([2, 2]))",
    "scatter_nd_add/grad": (
        "grad(lambda x, u: paddle.scatter_nd_add(x, paddle.to_tensor([[1], [1]]), u), t([3, 2]), t([2, 2]))"
    ),
    "index_select": "paddle.index_select(t([3, 4]), paddle.to_tensor([0, 1, 1]))",
    "index_select/axis": "t([3, 4]).index_select(paddle.to_tensor([0, 1, 1], dtype='int32'), axis=1)",
    "index_select/raises negative": "paddle.index_select(t([3, 4]), paddle.to_tensor([-1]))",
    "index_select/raises beyond": "paddle.index_select(t([3, 4]), paddle.to_tensor([3]))",
    "index_select/raises 2d": "paddle.index_select(t([3, 4]), paddle.to_tensor([[0, 1]]))",
    "index_select/grad": "grad(lambda x: paddle.index_select(x, paddle.to_tensor([0, 0]), 1), t([2, 3]))",
    "index_sample": "paddle.index_sample(t([3, 4]), paddle.to_tensor([[0, 1], [3, 3], [2, 0]]))",
    "index_sample/grad": (
        "grad(lambda x: paddle.index_sample(x, paddle.to_tensor([[0, 0], [1, 2]])), t([2, 3]))"
    ),
    "index_sample/raises rows": "paddle.index_sample(t([3, 4]), paddle.to_tensor([[0, 1]]))",
    "index_add": "paddle.index_add(paddle.ones([3, 3]), paddle.to_tensor([0, 2]), 0, t([2, 3]))",
    "index_add/axis": "paddle.index_add(t([2, 3]), paddle.to_tensor([0, 0], dtype='int32'), 1, t([2, 2]))",
    "index_add/grad": (
        "grad(lambda x, v: paddle.index_add(x, paddle.to_tensor([0, 0]), 0, v), t([2, 2]), t([2, 2]))"
    ),
    "index_add_": "x = paddle.ones([3, 2])\nx.index_add_(paddle.to_tensor([1]), 0, t([1, 2]))\nx",
    "index_fill": "paddle.index_fill(ints([3, 3], 9), paddle.to_tensor([0, 2], dtype='int32'), 0, -1)",
    "index_fill/tensor": "paddle.index_fill(t([3, 3]), paddle.to_tensor([0]), 1, paddle.to_tensor(2.5))",
    "index_fill_": "x = t([3, 3])\nx.index_fill_(paddle.to_tensor([0]), 1, 7)\nx",
    "index_fill/grad": "grad(lambda x: paddle.index_fill(x, paddle.to_tensor([0]), 0, 1.0), t([2, 2]))",
    "index_put": "paddle.index_put(t([3, 3]), (paddle.to_tensor([0, 1]), paddle.to_tensor([1, 2])), t([2]))",
    "index_put/rows": "paddle.index_put(t([3, 3]), (paddle.to_tensor([0, 1]),), t([3]))",
    "index_put/accumulate": (
        "paddle.index_put(paddle.zeros([3]), (paddle.to_tensor([0, 0, 2]),), t([3]), accumulate=True)"
    ),
    "index_put/mask": "x = t([2, 3])\npaddle.index_put(x, (x > 0,), paddle.to_tensor(5.0))",
    "index_put/grad": (
        "grad(lambda x, v: paddle.index_put(x, (paddle.to_tensor([0, 2]),), v), t([3, 2]), t([2, 2]))"
    ),
    "index_put_": "x = t([3])\nx.index_put_((paddle.to_tensor([0]),), paddle.to_tensor(7.0))\nx",
    "take_along_axis": "paddle.take_along_axis(t([3, 4]), paddle.to_tensor([[0, 1, 2, 0]]), 0)",
    "take_along_axis/1": "paddle.take_along_axis(t([2, 4]), paddle.to_tensor([[3], [1]]), axis=1)",
    "take_along_axis/no_broadcast": (
        "paddle.take_along_axis(t([3, 4]), paddle.to_tensor([[0, 1], [2, 0]]), 0, broadcast=False)"
    ),
    "take_along_axis/negative": "paddle.take_along_axis(t([3]), paddle.to_tensor([-1]), 0)",
    "take_along_axis/raises ndim": "paddle.take_along_axis(t([3, 4]), paddle.to_tensor([0]), 0)",
    "take_along_axis/grad": (
        "grad(lambda x: paddle.take_along_axis(x, paddle.to_tensor([[0, 0], [1, 2]]), 1), t([2, 3]))"
    ),
    "put_along_axis": "paddle.put_along_axis(t([2, 3]), paddle.to_tensor([[0]]), 99.0, 0)",
    "put_along_axis/values": (
        "paddle.put_along_axis(t([2, 3]), paddle.to_tensor([[0, 2], [1, 0]]), t([2, 2]), 1)"
    ),
    "put_along_axis/raises broadcast": (
        "paddle.put_along_axis(t([3, 3]), paddle.to_tensor([[0, 1, 2]]), t([3, 3]), 0)"
    ),
    "put_along_axis/add": (
        "paddle.put_along_axis(t([2, 3]), paddle.to_tensor([[0, 0], [1, 1]]), t([2, 2]), 1, 'add')"
    ),
    "put_along_axis/mul": (
        "paddle.put_along_axis(t([2, 3]), paddle.to_tensor([[0, 0], [1, 1]]), t([2, 2]), 1, 'mul', "
        "broadcast=False)"
    ),
    "put_along_axis/mean": (
        "paddle.put_along_axis(t([2, 3]), paddle.to_tensor([[0, 0], [1, 1]]), t([2, 2]), 1, 'mean', "
        "broadcast=False)"
    ),
    "put_along_axis/amax": (
        "paddle.put_along_axis(t([2, 3]), paddle.to_tensor([[0, 0], [1, 1]]), t([2, 2]), 1, 'amax', "
        "broadcast=False)"
    ),
    "put_along_axis/amin": (
        "paddle.put_along_axis(t([2, 3]), paddle.to_tensor([[0, 0], [1, 1]]), t([2, 2]), 1, 'amin', False, "
        "False)"
    ),
    "put_along_axis/add_without": (
        "paddle.put_along_axis(t([2, 3]), paddle.to_tensor([[0, 0], [1, 1]]), t([2, 2]), 1, 'add', False, "
        "False)"
    ),
    "put_along_axis/raises unknown": (
        "paddle.put_along_axis(t([2, 3]), paddle.to_tensor([[0, 0], [1, 1]]), t([2, 2]), 1, 'max')"
    ),
    "put_along_axis/grad": (
        "grad(lambda x, v: paddle.put_along_axis(x, paddle.to_tensor([[0], [2]]), v, 1), t([2, 3]), t([2, "
        "1]))"
    ),
    "put_along_axis/grad_add": (
        "grad(lambda x, v: paddle.put_along_axis(x, paddle.to_tensor([[0], [2]]), v, 1, 'add'), t([2, 3]), "
        "t([2, 1]))"
    ),
    "put_along_axis/grad_mul": (
        "grad(lambda x, v: paddle.put_along_axis(x, paddle.to_tensor([[0], [2]]), v, 1, 'mul'), t([2, 3]), "
        "t([2, 1]))"
    ),
    "put_along_axis_": "x = t([2, 3])\nx.put_along_axis_(paddle.to_tensor([[0]]), 99.0, 0)\nx",
    "take": "paddle.take(t([3, 4]), paddle.to_tensor([0, 5, -1]))",
    "take/2d": "paddle.take(t([3, 4]), paddle.to_tensor([[0, 5], [2, 11]]))",
    "take/wrap": "paddle.take(t([3, 4]), paddle.to_tensor([-3, 14]), mode='wrap')",
    "take/clip": "paddle.take(t([3, 4]), paddle.to_tensor([-3, 14]), mode='clip')",
    "take/raises": "paddle.take(t([3, 4]), paddle.to_tensor([14]))",
    "take/raises mode": "paddle.take(t([3, 4]), paddle.to_tensor([1]), mode='other')",
    "take/grad": "grad(lambda x: paddle.take(x, paddle.to_tensor([0, 0, 3])), t([2, 2]))",
    "masked_select": "x = t([3, 4])\npaddle.masked_select(x, x > 0)",
    "masked_select/broadcast": "paddle.masked_select(t([2, 3]), paddle.to_tensor([True, False, True]))",
    "masked_select/grad": "grad(lambda x: paddle.masked_select(x, x > 0), t([3, 4]))",
    "masked_select/raises int_mask": "paddle.masked_select(t([3]), ints([3], 2))",
    "masked_fill": "x = t([3, 4])\npaddle.masked_fill(x, x > 0, 2.0)",
    "masked_fill/tensor": "x = ints([3, 3], 9)\nx.masked_fill(x > 4, paddle.to_tensor(-1))",
    "masked_fill/broadcast": "paddle.masked_fill(t([2, 3]), paddle.to_tensor([[True], [False]]), 0.5)",
    "masked_fill_": "x = t([3])\nx.masked_fill_(x > 0, 0)\nx",
    "masked_fill/grad": "grad(lambda x: paddle.masked_fill(x, x > 0, 1.0), t([2, 3]))",
    "where": "x = t([2, 3])\npaddle.where(x > 0, x, -x)",
    "where/broadcast": "paddle.where(bools([3, 1]), t([3, 2]), t([2]))",
    "where/numbers": "paddle.where(bools([3]), 1.0, 0.0)",
    "where/number": "paddle.where(bools([3]), t([3]), 0.0)",
    "where/ints": "paddle.where(bools([3]), 1, 2)",
    "where/one": "paddle.where(t([2, 3]) > 0)",
    "where/raises half": "paddle.where(bools([3]), t([3]))",
    "where/raises method": "t([3]).where(bools([3]), t([3]))",
    "where/grad": "grad(lambda x, y: paddle.where(x > 0, x, y), t([2, 3]), t([3]))",
    "where_": "x = t([3])\npaddle.where_(bools([3]), x, paddle.zeros([3]))\nx",
    "multiplex": "paddle.multiplex([t([2, 2]), t([2, 2]) + 1], paddle.to_tensor([[1], [0]], dtype='int32'))",
    "multiplex/grad": (
        "grad(lambda x, y: paddle.multiplex([x, y], paddle.to_tensor([[1], [0]], dtype='int32')), "
        "t([2, 2]), t([2, 2]))"
    ),
}
