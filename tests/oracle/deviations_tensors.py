"""Deliberate differences in making, arranging, indexing and printing tensors; see deviations.py."""

TENSORS: dict[str, str] = {
    **dict.fromkeys(
        ["arranging:unfold/grad", "arranging:as_strided/grad"],
        "where windows overlap Paddle's gradient keeps one of the parts; the engine's is their sum",
    ),
    "arranging:as_strided/offset": "Paddle counts the offset in bytes, the engine in elements",
    **dict.fromkeys(
        [
            "arranging:slice/raises empty",
            "subscripts:get/raises empty",
            "subscripts:set/raises empty",
            "subscripts:set/raises empty_list",
        ],
        "a slice or list that takes nothing gives no elements, as in Python; Paddle's kernel refuses",
    ),
    "arranging:slice/axis": "Paddle takes an axis that does not exist for the last; the engine refuses",
    "arranging:diag_embed/grad": "Paddle has no gradient here",
    "arranging:diagonal_scatter/grad": "Paddle gives none for what is put on the diagonal",
    "arranging:tril_indices/negative": "a matrix of negative size is refused",
    "arranging:transpose/short": "Paddle guesses the dimensions that perm leaves out; the engine refuses",
    **dict.fromkeys(
        ["creation2:to_tensor/nan", "creation2:full/wraps"],
        "a number that an integer type does not hold is refused; Paddle wraps it around",
    ),
    "creation2:to_tensor/raises range": "a range is numbers too",
    "creation2:to_tensor/raises big_endian": "an array of the other byte order is converted",
    "creation2:full/raises complex": "a complex number makes a complex tensor",
    "creation2:arange/raises empty": "nothing lies from 3 to below 1, as in Python; Paddle refuses",
    "creation2:linspace/raises tensors": "the number of values may be an integer tensor",
    "creation2:complex/raises dtypes": "parts of different dtypes are brought to one",
    **dict.fromkeys(
        ["creation2:dtype/repr", "creation2:dtype/bfloat16", "printing2:dtype_in_list"],
        "repr() of a dtype is paddle.float32 as in Paddle's documents, not <VarType.FP32: 5>",
    ),
    "creation2:dtype/equal": "a dtype equals its name too",
    "creation2:normal/raises default": "normal() draws one number, as Paddle's documents say",
    "printing2:half": "Paddle cuts digits off where it makes float16 of float32; the engine rounds",
    "scatter_gather:index_fill_": "Paddle fills rows whatever the axis is; the engine goes by the axis",
    "scatter_gather:take_along_axis/negative": "Paddle reads before the tensor; the engine refuses",
    **dict.fromkeys(
        ["scatter_gather:where/numbers", "scatter_gather:where/number"],
        "a Python number takes the tensor's dtype (the default one without), not float64",
    ),
    **dict.fromkeys(
        ["subscripts:get/raises negative_tensor", "subscripts:grad/raises negative_tensor"],
        "numbers in an index tensor count from the end where negative, as single ones do",
    ),
    **dict.fromkeys(
        [
            "subscripts:get/raises none_list",
            "subscripts:get3/none",
            "subscripts:get3/raises mask_2d",
            "subscripts:set/none_list",
            "subscripts:set3/none",
            "subscripts:set3/mask_2d",
        ],
        "after None or a mask of two dimensions Paddle miscounts the next dimensions; NumPy is followed",
    ),
    "subscripts:set/raises list_value": "a list is taken as the tensor that to_tensor makes of it",
    **dict.fromkeys(
        ["subscripts:set/raises mask_values", "subscripts:set/raises mask_2d_values"],
        "one value for each element that a mask chooses, as in NumPy",
    ),
    **dict.fromkeys(
        ["subscripts:set/raises 0d", "subscripts:set/raises 0d_empty_tuple"],
        "a tensor without dimensions can be assigned through x[...] too",
    ),
    **dict.fromkeys(
        [f"tensor_object:operator/{kind} {op} np32" for kind in ("int", "int32") for op in ("+", "/", "<")],
        "Paddle makes a NumPy float32 an integer first and loses its fraction",
    ),
    "tensor_object:operator/raises list": "a list is taken as the tensor that to_tensor makes of it",
    "tensor_object:operator/string": "Paddle takes a text for nothing; the engine refuses it",
    "tensor_object:operator/raises and_number": "bits can be joined with a Python number too",
    "tensor_object:index/float": "a floating tensor is not an index",
    "tensor_object:format/raises spec": "a tensor of one element is formatted as its number",
    **dict.fromkeys(
        [
            "tensor_object:abs/raises",
            "tensor_object:reflected_floordiv/raises",
            "tensor_object:reflected_mod/raises",
            "tensor_object:reflected_matmul/raises",
        ],
        "Python's operator works, where Paddle has the function only",
    ),
    "tensor_object:parameter/trainable": "the class of parameters is called Parameter",
}
