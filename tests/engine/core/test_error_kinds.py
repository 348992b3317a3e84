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
        (lambda: paddle.cumsum(paddle.ones([3]), 5), IndexError, "(OutOfRange)"),
        (lambda: paddle.sum(paddle.ones([3]), 5), ValueError, "(InvalidArgument)"),
        (lambda: paddle.ones([3]).sum(5), ValueError, "(InvalidArgument)"),
        (lambda: F.softmax(paddle.ones([3]), 5), ValueError, "(InvalidArgument)"),
        (lambda: paddle.flip(paddle.ones([3]), 5), ValueError, "(InvalidArgument)"),
        (lambda: paddle.unsqueeze(paddle.ones([3]), 5), ValueError, "(InvalidArgument)"),
        (lambda: paddle.argmax(paddle.ones([3]), 5), ValueError, "(InvalidArgument)"),
        (lambda: paddle.transpose(paddle.ones([3]), [5]), ValueError, "(InvalidArgument)"),
        (lambda: paddle.ones([-1, 5]), ValueError, "(InvalidArgument)"),
        (lambda: paddle.abs([-3]), ValueError, "(InvalidArgument)"),
        (lambda: paddle.matmul([1.0], [2.0]), ValueError, "(InvalidArgument)"),
        (lambda: paddle.argmax(paddle.ones([3]), dtype="float32"), ValueError, "(InvalidArgument)"),
        (lambda: paddle.histogram(paddle.ones([3]), min=1, max=0), ValueError, "(InvalidArgument)"),
        (
            lambda: paddle.masked_select(paddle.ones([3]), paddle.to_tensor([1, 0, 1])),
            ValueError,
            "(InvalidArgument)",
        ),
        (lambda: paddle.randint(5, 3), ValueError, "(InvalidArgument)"),
        (lambda: paddle.randperm("a"), ValueError, "(InvalidArgument)"),
        (lambda: paddle.index_select(paddle.ones([3]), 1), ValueError, "(InvalidArgument)"),
    ],
)
def test_the_kind_of_an_error_is_in_its_message(call, error, kind):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value).count(kind) == 1
    assert raised.value.args[0].count(kind) == 1


def test_the_kind_is_not_repeated_in_a_message():
    first = ShapeError("matmul: x and y differ")
    assert str(first) == "matmul: x and y differ (InvalidArgument)"
    assert str(ShapeError(f"line 3: {first}")) == "line 3: matmul: x and y differ (InvalidArgument)"
