"""Recorded calls: sorting, searching, uniqueness."""

CALLS: dict[str, str] = {
    "sort": "paddle.sort(t([3, 4]))",
    "sort/axis": "paddle.sort(t([3, 4]), axis=0)",
    "sort/descending": "t([3, 4]).sort(descending=True)",
    "sort/int": "paddle.sort(ints([6], 9))",
    "sort/0d": "paddle.sort(paddle.to_tensor(1.5))",
    "sort/grad": "grad(lambda x: paddle.sort(x, 0), t([4, 2]))",
    "sort/raises out_of_range": "paddle.sort(t([3, 4]), axis=2)",
    "argsort": "paddle.argsort(t([3, 4]))",
    "argsort/axis": "paddle.argsort(t([3, 4]), axis=0, descending=True)",
    "argsort/nan": "paddle.argsort(paddle.to_tensor([1.0, float('nan'), 0.0]))",
    "sort/nan": "paddle.sort(paddle.to_tensor([1.0, float('nan'), 0.0]))",
    "sort/nan_descending": "paddle.sort(paddle.to_tensor([1.0, float('nan'), 2.0]), descending=True)",
    "topk": "paddle.topk(t([6]), 2)",
    "topk/axis": "paddle.topk(t([3, 4]), k=2, axis=0)",
    "topk/smallest": "paddle.topk(t([3, 4]), 2, largest=False)",
    "topk/tensor": "paddle.topk(t([6]), paddle.to_tensor(3))",
    "topk/unsorted": "paddle.sort(paddle.topk(t([6]), 3, sorted=False)[0])",
    "topk/raises too_many": "paddle.topk(t([6]), 7)",
    "topk/raises zero": "paddle.topk(t([6]), 0)",
    "topk/grad": "grad(lambda x: paddle.topk(x, 2)[0], t([2, 4]))",
    "topk/0d": "paddle.topk(paddle.to_tensor(1.5), 1)",
    "kthvalue": "paddle.kthvalue(t([2, 5]), 2)",
    "kthvalue/axis": "paddle.kthvalue(t([2, 5]), 2, axis=0, keepdim=True)",
    "kthvalue/raises zero": "paddle.kthvalue(t([2, 5]), 0)",
    "kthvalue/grad": "grad(lambda x: paddle.kthvalue(x, 2)[0], t([2, 3]))",
    "mode": "paddle.mode(paddle.to_tensor([[1, 2, 2], [0, 1, 0]], dtype='int32'), 1)",
    "mode/axis": "paddle.mode(paddle.to_tensor([[1.0, 2.0, 2.0], [1.0, 1.0, 0.0]]), axis=0)",
    "mode/keepdim": "paddle.mode(paddle.to_tensor([[2.0, 2.0, 1.0]]), keepdim=True)",
    "mode/ties": "paddle.mode(paddle.to_tensor([3.0, 1.0, 2.0, 1.0, 3.0]))",
    "mode/grad": "grad(lambda x: paddle.mode(x)[0], paddle.to_tensor([[1.0, 2.0, 2.0]]))",
    "unique": "paddle.unique(paddle.to_tensor([2, 3, 3, 1, 5, 3]))",
    "unique/all": "paddle.unique(paddle.to_tensor([2, 3, 3, 1, 5, 3]), True, True, True)",
    "unique/inverse": "paddle.unique(paddle.to_tensor([[2, 1, 3], [3, 0, 1]]), return_inverse=True)",
    "unique/axis": "paddle.unique(paddle.to_tensor([[2, 1, 3], [3, 0, 1], [2, 1, 3]]), axis=0)",
    "unique/axis_all": (
        "paddle.unique(paddle.to_tensor([[2, 1, 2], [3, 0, 3]]), True, True, True, axis=1, dtype='int32')"
    ),
    "unique/float": "paddle.unique(paddle.to_tensor([2.0, 1.5, 2.0]), return_counts=True)",
    "unique/empty": "paddle.unique(paddle.zeros([0]))",
    "unique_consecutive": "paddle.unique_consecutive(paddle.to_tensor([1, 1, 2, 2, 3, 1, 1, 2]))",
    "unique_consecutive/all": "paddle.unique_consecutive(paddle.to_tensor([1, 1, 2, 2, 3, 1]), True, True)",
    "unique_consecutive/axis": (
        "paddle.unique_consecutive(paddle.to_tensor([[2, 1], [2, 1], [3, 0]]), True, True, axis=0)"
    ),
    "unique_consecutive/2d": (
        "paddle.unique_consecutive(paddle.to_tensor([[1, 1], [1, 2]]), return_inverse=True)"
    ),
    "nonzero": "paddle.nonzero(paddle.to_tensor([[1.0, 0.0], [0.0, 2.0]]))",
    "nonzero/tuple": "paddle.nonzero(paddle.to_tensor([[1, 0], [0, 2]]), as_tuple=True)",
    "nonzero/bool": "bools([4]).nonzero()",
    "nonzero/none": "paddle.nonzero(paddle.zeros([2, 2]))",
    "nonzero/1d_tuple": "paddle.nonzero(paddle.to_tensor([0, 3]), as_tuple=True)",
    "searchsorted": (
        "paddle.searchsorted(paddle.to_tensor([1.0, 3.0, 5.0]), paddle.to_tensor([0.0, 3.0, 6.0]))"
    ),
    "searchsorted/right": (
        "paddle.searchsorted(paddle.to_tensor([1, 3, 5]), paddle.to_tensor([0, 3, 6]), right=True)"
    ),
    "searchsorted/rows": (
        "paddle.searchsorted(paddle.to_tensor([[1, 3, 5], [2, 4, 6]]), paddle.to_tensor([[3, 6], [3, 6]]), "
        "True)"
    ),
    "searchsorted/dtypes": "paddle.searchsorted(paddle.to_tensor([1, 3]), paddle.to_tensor([1.5]))",
    "searchsorted/raises shapes": (
        "paddle.searchsorted(paddle.to_tensor([[1, 3], [2, 4]]), paddle.to_tensor([[3], [3], [3]]))"
    ),
    "bucketize": "paddle.bucketize(paddle.to_tensor([[0, 3], [9, 5]]), paddle.to_tensor([2, 4, 8, 16]))",
    "bucketize/right": (
        "paddle.bucketize(paddle.to_tensor([2, 4]), paddle.to_tensor([2, 4, 8]), out_int32=True, right=True)"
    ),
    "bucketize/raises 2d": "paddle.bucketize(paddle.to_tensor([2]), paddle.to_tensor([[2, 4]]))",
    "argmax": "paddle.argmax(t([3, 4]))",
    "argmax/axis": "paddle.argmax(t([3, 4]), axis=-1, keepdim=True)",
    "argmin": "paddle.argmin(t([3, 4]), axis=0, dtype='int32')",
}
