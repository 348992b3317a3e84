"""The words for kinds of errors that scripts written for Paddle look for in messages."""

import pytest

import engine as paddle
import engine.nn.functional as F
from engine.core.errors import ShapeError


@pytest.mark.parametrize(
    ("call", "error", "kind"),
    [
        # recorded from Paddle 2.6.2
        (lambda: paddle.matmul(paddle.ones([2, 3]), paddle.ones([2, 3])), ValueError, "(InvalidArgument)"),
        (lambda: paddle.ones([2, 3]) + paddle.ones([4]), ValueError, "(InvalidArgument)"),
        (lambda: paddle.concat([paddle.ones([2, 3]), paddle.ones([3, 4])]), ValueError, "(InvalidArgument)"),
        (lambda: paddle.reshape(paddle.ones([2, 3]), [4]), ValueError, "(InvalidArgument)"),
        (
            lambda: F.conv2d(paddle.ones([1, 3, 4, 4]), paddle.ones([2, 4, 3, 3])),
            ValueError,
            "(InvalidArgument)",
        ),
        (lambda: paddle.nn.Linear(3, 4)(paddle.ones([2, 5])), ValueError, "(InvalidArgument)"),
        (lambda: paddle.linalg.inv(paddle.ones([2, 3])), ValueError, "(InvalidArgument)"),
        (lambda: paddle.gather(paddle.ones([3]), paddle.to_tensor([7])), IndexError, "(OutOfRange)"),
        (lambda: paddle.ones([3])[7], IndexError, "(OutOfRange)"),
    ],
)
def test_the_kind_of_an_error_is_in_its_message(call, error, kind):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value).count(kind) == 1


def test_the_kind_is_not_repeated_in_a_message():
    first = ShapeError("matmul: x and y differ")
    assert str(first) == "matmul: x and y differ (InvalidArgument)"
    assert str(ShapeError(f"line 3: {first}")) == "line 3: matmul: x and y differ (InvalidArgument)"
