"""Differences that are meant, of calls in a Program that agree in eager mode, each with its reason."""

from __future__ import annotations

from tests.differential.comparing import CLASS, HERE, KIND, LESS_SHAPE, MORE_SHAPE, RAW, THERE, WRONG_SHAPE
from tests.differential.deviation import EMPTY, Deviation


def _static(
    reason: str,
    category: str,
    detail: str = "",
    name: str = "",
    arguments: str = "",
    unknown: bool = False,
) -> Deviation:
    return Deviation(
        reason,
        name=name,
        category=category,
        detail=detail,
        mode="^static$",
        arguments=arguments,
        unknown=unknown,
    )


_TOOK = f"^({THERE}|{CLASS}|{KIND})$"

STATIC = (
    _static("Paddle declares another shape than its kernel gives", f"^{WRONG_SHAPE}$"),
    _static("a Program knows sizes that Paddle leaves open", f"^{MORE_SHAPE}$"),
    _static(
        "the declared size follows from the values",
        f"^{LESS_SHAPE}$",
        name="class_center_sample|expand|label_smooth|solve",
    ),
    # Refused only there.
    _static(
        "Paddle's checks take a size that is not known for a wrong one",
        _TOOK,
        r"-1|num -1|unknown unstack|All elements in|repeat_times must|must be >= 1|k in the topk|"
        r"shape should be equal|same shape|should be equal to|must equal|meet the multiplication|"
        r"must match|n\*n|should be the same|exactly the same|in interval|\[-|got dimension|be 1 but got",
        unknown=True,
    ),
    _static(
        "Paddle declares another shape than its kernel gives", THERE, "fed Variable 'w[0-9]' should have"
    ),
    _static("the root of a size that is not known is computed", THERE, "not 'complex'", "attention"),
    _static("x[i] = v changes x in a Program too, as in Paddle 2.5", THERE, "__setitem__"),
    _static(
        "windows and filters are computed in a Program too", THERE, "must be real number, not Var", "audio"
    ),
    _static(
        "bits of two dtypes combine as in eager mode",
        THERE,
        "^AssertionError: *HERE",
        r"bitwise_|\.(and_|or_|xor)$",
    ),
    _static(
        "a Variable has the methods of a Tensor", f"^({THERE}|{RAW})$", "'Variable' object has no attribute"
    ),
    _static("Paddle compares a list of sizes with a tuple", THERE, "different from that of inplace", "gcd_"),
    _static("Paddle's loops of gcd and lcm lose sizes", THERE, name="(gcd|lcm)_?$"),
    _static("an integer over 0 is 0, or infinity", THERE, "Integer division by zero", "divide|mod|remainder"),
    _static("an attribute may be a Variable", THERE, "supports? phi::DenseTensor|support phi::DenseTensor"),
    _static("an attribute may be a Variable", THERE, "'(int|float)' object has no attribute 'dtype'"),
    _static("an attribute may be a Variable", THERE, "must be a python Int|should be a int|non-negative int"),
    _static("an attribute may be a Variable", THERE, "tuple index out of range", arguments='"just"'),
    _static("all elements can be dropped", THERE, "ZeroDivisionError", "dropout"),
    _static("a negative axis counts from the end", THERE, "Dim1 is out of range", "diag_embed"),
    _static("parts may be empty", THERE, r"len\(num_or_sections\) must not be more", "split"),
    _static("a number has the axes 0 and -1", THERE, "reduce dim index .* dimesion = 0", "std|var"),
    _static("float16 is computed", THERE, "float16 can only be used on GPU|should be of float type"),
    _static("permutations may be empty", THERE, "n should be greater than 0", "randperm"),
    _static("nothing is repeated 0 times", THERE, "must be greater than 0, but the value given is 0", "tile"),
    _static("Paddle's Program refuses an empty tensor", THERE, arguments=EMPTY),
    _static(
        "an end before the start selects nothing", THERE, "start > end|end should be greater", "trapezoid"
    ),
    _static("Paddle counts the indices in a subscript after an ellipsis", THERE, "not 'NoneType'", "getitem"),
    _static("an item of a Variable is chosen by its index", THERE, "too many positional", "item"),
    # Refused in another way.
    _static(
        "Paddle's Program looks at the dtype first; here another wrong argument is named",
        f"^{CLASS}$",
        "^TypeError: The (data )?type of '",
    ),
    _static(
        "Paddle's Program looks at the dtype first; here another wrong argument is named",
        f"^({CLASS}|{KIND})$",
        "does not match the type of data|must be same type|incompatible function arguments",
    ),
    # Refused only here.
    _static("Paddle takes a comparison of Variables for true", HERE, r"bool\(\): .* is a static Variable"),
    _static("a feed has the declared rank", HERE, "feed 'w[0-9]' has shape", "squeeze", unknown=True),
    _static("True is not a number", HERE, "got True|axis=True"),
    _static("Paddle's Program does not look at the number of frequencies", HERE, name="istft"),
    _static("Paddle's Program ignores pivot", HERE, name=r"\.lu$"),
    # Values and gradients.
    _static("Paddle's backward takes back what increment did", "^value$", name="increment"),
    _static(
        "Paddle's Program ignores weight without bias, and bias without weight",
        "^value$",
        name="instance_norm",
    ),
    _static("Paddle takes a size that is not known for -1", "^value$", name=r"\.take$", unknown=True),
    _static("Paddle gives no parts along a size that is not known", "structure", name="unbind", unknown=True),
    _static("Paddle sums to the declared sizes", "^gradient: ", name="expand_as", unknown=True),
    _static("Paddle's Program rounds to float32", "^value$", "^float64", "get_window|quantile"),
    _static("Paddle's Program divides by 0 for one row", "not finite", name="cov$|corrcoef"),
    _static(
        "Paddle's Program has no gradient of diagonals and copies",
        "gradient missing",
        name=r"\.(diag|diagflat|cpu|householder_product)$",
    ),
    _static("a Variable has a gradient of itself", "gradient missing", name=r"\.(t|t_)$"),
    _static(
        "Paddle has a gradient of indices eagerly, and none in a Program", "gradient missing", name="topk"
    ),
    _static("an axis may be a Variable", THERE, "type of axis must be int", arguments='"just"'),
    _static("sizes may be a Variable", THERE, "received Updates's.* is -1", "scatter_nd"),
    _static("complex parts have a gradient", "gradient missing", name="slice", arguments="complex"),
)
