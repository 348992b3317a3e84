"""Calls that Paddle refuses and the engine computes, each kind with the reason why it stays as it is."""

from __future__ import annotations

from tests.differential.comparing import THERE
from tests.differential.deviation import EMPTY, Deviation

_NUMPY = '"np": '
_TENSOR = r"<class '(paddle\.|[a-z.]*)Tensor'>"


def _accepted(reason: str, detail: str, name: str = "", arguments: str = "") -> Deviation:
    return Deviation(reason, name=name, category=THERE, detail=f"^[^\n]*({detail})", arguments=arguments)


REFUSED = (
    _accepted("Paddle lacks the operator that its function calls", r"libpaddle[a-z._]*' has no attribute"),
    _accepted(
        "Paddle compares the shapes of empty tensors with -1",
        r"The shape of broadcast output \[[^\]]*-1",
        arguments=EMPTY,
    ),
    _accepted(
        "an empty tensor has the result that the formula gives",
        "empty|cannot be zero|greater than 0|not be (equal )?0|larged than 0|has not been initialized|"
        "must be positive|in ReshapeOp|Downscale factor|length of Input|ResourceExhausted|dims size must|"
        "has only 0 element|is ambiguous|a positive number|with size 0|larger than 0|"
        "be greater than or equal to min|numel must > 0|does not match the corresponding value|"
        "should not be null|Zero-size tensor|negative dimensions are not|meta is invalid",
        arguments=EMPTY,
    ),
    _accepted(
        "a number or an array stands for a Tensor",
        "'(int|float|bool|list|NoneType)' object has no attribute '(shape|astype|dtype)'|"
        "y must be tensor type|must be int, float, bool or Tensor, but got list",
    ),
    _accepted("operands broadcast", "X shall be same as rank|elements of X shall not greater", name="atan2"),
    _accepted("operands broadcast", "must have same shape", name="nextafter"),
    _accepted("operands broadcast", "must have the same dimension|is not equal to", name="isclose|allclose"),
    _accepted("operands broadcast", "have the same (number of )?dimension", name="put_along_axis|lstsq"),
    _accepted("operands broadcast", "Same label have different shapes", name="einsum"),
    _accepted("shapes that differ are not equal", "size of dim_y should not be", name="equal_all"),
    _accepted("a negative axis counts from the end", "axis should be greater than", name="strided_slice"),
    _accepted("a negative axis counts from the end", "size of axis which is 0", name="gather"),
    _accepted("a negative index counts from the end", "must be no less than 0", name="getitem|setitem"),
    _accepted("a negative index counts from the end", "index 18446744073709551615 is out", name="item"),
    _accepted(
        "an end before the start selects nothing",
        "The start index and end index|When step > 0, end should|The step should be (less|greater)",
    ),
    _accepted("a part of size -1 may be empty", r"Sum of Attr\(num_or_sections\)", name="split"),
    _accepted("abs() takes Tensors", r"bad operand type for abs\(\)"),
    _accepted("flags are true or false as in Python", "must be bool, but got"),
    _accepted("bounds may have a fraction", "must be int, but got float", name="histogram"),
    _accepted("infinity may be written as text", "must be double, but got str", name="norm|dist"),
    _accepted(
        "a tensor without dimensions is a number",
        rf"len\(\) of a 0-D tensor|received:? {_TENSOR}|RepeatsTensor|must be long, but got Tensor|"
        "must be scalar or 0-D tensor",
    ),
    _accepted("a tensor is a list of integers", "must be list or tuple, but got Tensor"),
    _accepted(
        "axes may be a tensor, a tuple or NumPy's integers",
        "Axis should be None, int, or a list|except axis type",
    ),
    _accepted(
        "a tensor without dimensions is a number",
        "should be (a )?int, and",
        arguments=r'"t": \[\], [^}]*"just"',
    ),
    _accepted("one neighbour has no area", "must not empty", name="trapezoid"),
    _accepted("vectors have candidates too", "must be not less than 2", name="multiplex"),
    _accepted("-1 alone is a shape", "must be an instance of `list`", name="reshape"),
    _accepted("None stands for the default", "got NoneType|'NoneType' object is not", "cov|adaptive_max"),
    _accepted("matrices of bfloat16 are computed in float32", "have the same dtype such as", name="lstsq"),
    _accepted(
        "a tensor without dimensions is a number", "list index out|rank greater than zero", "prod|index_fill"
    ),
    _accepted("a tensor without dimensions is a number", "^AssertionError", "eye", r'"t": \[\], [^}]*"just"'),
    _accepted("operands broadcast", "must be in 4D dimension", name="softmax_mask"),
    _accepted("Paddle's own sizes do not fit", "Fail to alloc memory", name="unique"),
    _accepted("True counts as 1", "must be (list or )?(int|long), but got bool"),
    _accepted(
        "NumPy's numbers are numbers",
        "must be list or tuple|an integer or a list|should be (a |a non-negative )?int|"
        "must be int, but got|has no len|received <class 'numpy|a non-negative int",
        arguments=_NUMPY,
    ),
    _accepted("a tensor without dimensions has one element to flatten", "start_axis should be", "flatten_"),
    _accepted("a tensor without dimensions takes the axes 0 and -1", "opposite rank of", "cumprod"),
    _accepted("a tensor without dimensions takes the axes 0 and -1", r"R: 0|\[0, -1\]", "norm|repeat"),
    _accepted("a tensor without dimensions takes the axes 0 and -1", "dimension at least 1", "nonzero"),
    _accepted("one tensor is enough", "Expected at least 2 input tensors"),
    _accepted("a contiguous tensor has a view of any shape", "can not be viewed", name="view"),
    _accepted("float16 has limits too", "^AssertionError", name="nan_to_num", arguments='"b?float16"'),
    _accepted("sizes may be int64", "data_type of input tensor in list", name="pad|diff"),
    _accepted("Paddle's divide and pow cut integers off", "Integer division by zero", name=r"\.divide$"),
    _accepted(
        "floats are divided by zero as floats",
        "Integer division by zero",
        name=r"floordiv|floor_divide",
        arguments='"float',
    ),
    _accepted("indices may be of any integer dtype", r"holds \[u?int(8|16)\]"),
    _accepted("indices may be of any integer dtype", r"holds the wrong type", "gather_nd", '"u?int(8|16)"'),
    _accepted("indices may be of any integer dtype", "should all be integers", arguments='"u?int(8|16)"'),
    _accepted("NumPy's dtypes are dtypes", "incompatible constructor arguments", name="finfo|iinfo"),
    _accepted("a padding may be given for each side", "Paddings size 4", name="max_pool"),
    _accepted(
        "Paddle's own sizes do not fit",
        "padding_down|containing 2 or 4|mismatching",
        name="_transpose|max_unpool",
    ),
    _accepted("Paddle's own sizes do not fit", r"\(num_col_dims\)", name="dropout"),
    _accepted(
        "% of integers by zero is 0 as in NumPy (remainder() refuses it)",
        "Integer division by zero",
        name=r"operator\.mod",
    ),
    _accepted("the variance of one observation is NaN", "Integer division by zero", name=r"\.cov$"),
    _accepted("a number is cast to the dtype", "filled value is out of range", name="full_like"),
)
