"""auto_cast: off with a warning on the CPU, as in Paddle; where it acts, dtypes by list and level."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import engine as paddle
import engine.nn.functional as F
from engine import amp
from engine.core.precision import Precision
from engine.eager.tensor import Tensor


@pytest.fixture
def acting() -> Iterator[None]:
    with amp.on_cpu():
        yield


def x(*shape: int) -> Tensor:
    return paddle.to_tensor(np.linspace(-1, 1, int(np.prod(shape))).reshape(shape).astype("float32"))


def test_on_the_cpu_it_warns_and_has_no_effect() -> None:
    assert not amp.is_float16_supported()
    assert not amp.is_bfloat16_supported("cpu")
    for dtype in ("float16", "bfloat16"):
        product = amp.auto_cast(dtype=dtype)(paddle.matmul)
        with pytest.warns(UserWarning, match=r"only be enabled on CUDAPlace.*Place\(cpu\), so it makes no"):
            assert product(x(2, 3), x(3, 2)).dtype == "float32"


def test_levels(acting: None) -> None:
    a, low = x(2, 3), x(2, 3).astype("float16")
    with amp.auto_cast():
        assert paddle.matmul(a, x(3, 2)).dtype == "float16"
        assert F.relu(a).dtype == "float32"
        assert F.relu(low).dtype == "float16"
        assert (a + low).dtype == "float32"
        assert F.softmax(low).dtype == "float32"
        assert paddle.concat([a, low]).dtype == "float32"
        assert paddle.concat([low, low]).dtype == "float16"
        assert (a.astype("float64") * 2.0).dtype == "float64"
        with amp.auto_cast(enable=False):
            assert paddle.matmul(a, x(3, 2)).dtype == "float32"
        with paddle.no_grad():
            assert paddle.matmul(a, x(3, 2)).dtype == "float16"
    with amp.auto_cast(level="O2"):
        assert F.softmax(low).dtype == "float16"
        assert F.softmax(a).dtype == "float32"
    with amp.auto_cast(level="O2", use_promote=False):
        assert F.softmax(a).dtype == "float16"
    with amp.auto_cast(level="OD"):
        assert F.relu(low).dtype == "float32"
        assert paddle.matmul(low, x(3, 2)).dtype == "float16"
    with amp.auto_cast(level="O0"):
        assert paddle.matmul(a, x(3, 2)).dtype == "float32"
    assert paddle.matmul(a, x(3, 2)).dtype == "float32"


def test_custom_lists(acting: None) -> None:
    a = x(2, 3)
    with amp.auto_cast(custom_white_list={"elementwise_add"}, custom_black_list={"matmul_v2"}):
        assert (a + a).dtype == "float16"
        assert paddle.matmul(a, x(3, 2)).dtype == "float32"
    with pytest.raises(ValueError, match="overlap"), amp.auto_cast(True, ["exp"], ["exp"]):
        pass


def test_norms_keep_their_parameters(acting: None) -> None:
    norm = paddle.nn.BatchNorm1D(3)
    with amp.auto_cast():
        out = norm(x(4, 3).astype("float16"))
    assert out.dtype == "float16"
    assert norm.weight.dtype == norm._mean.dtype == "float32"


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="level should be"), amp.auto_cast(level="O3"):
        pass
    with pytest.raises(ValueError, match="dtype should be"), amp.auto_cast(dtype="int8"):
        pass
    with amp.auto_cast(enable=False, level="O0", dtype="float32"):
        pass
    paddle.enable_static()
    try:
        with pytest.raises(AssertionError, match="static"), amp.auto_cast():
            pass
    finally:
        paddle.disable_static()


def test_it_decorates_functions(acting: None) -> None:
    @amp.auto_cast()
    def product(a: Tensor) -> Tensor:
        return paddle.matmul(a, a, transpose_y=True)

    assert product(x(2, 3)).dtype == "float16"
    assert paddle.matmul(x(2, 3), x(3, 2)).dtype == "float32"


def test_gradients_come_back_in_the_parameters_dtype(acting: None) -> None:
    w = x(3, 2)
    w.stop_gradient = False
    with amp.auto_cast():
        loss = (paddle.matmul(x(4, 3), w) ** 2).mean()
        loss.backward()
    assert w.grad is not None
    assert w.grad.dtype == "float32"
    plain = x(3, 2)
    plain.stop_gradient = False
    (paddle.matmul(x(4, 3), plain) ** 2).mean().backward()
    assert plain.grad is not None
    np.testing.assert_allclose(w.grad.numpy(), plain.grad.numpy(), rtol=2e-3, atol=1e-4)


def test_converted_functions_have_programs_of_each_precision(acting: None) -> None:
    net = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.ReLU(), paddle.nn.Linear(4, 1))
    static = paddle.jit.to_static(lambda v: (net(v) ** 2).mean())
    plain = static(x(5, 3))
    with amp.auto_cast():
        eager, low = (net(x(5, 3)) ** 2).mean(), static(x(5, 3))
    assert len(static.program_cache) == 2
    np.testing.assert_array_equal(eager.numpy(), low.numpy())
    assert float(low) != float(plain)
    casts = [op.type for op in static.program_cache[1].main_program.global_block().ops].count("cast")
    assert casts == 6
    assert float(static(x(5, 3))) == float(plain)

    @paddle.jit.to_static
    def inside(v: Tensor) -> Tensor:
        with amp.auto_cast():
            y = paddle.matmul(v, v, transpose_y=True)
        return y

    assert inside(x(2, 3)).dtype == "float16"


def test_policy_of_a_norm_looks_at_its_first_input() -> None:
    policy = Precision("O1", "float16", {"matmul_v2"}, {"exp"})
    assert policy.target("batch_norm", [["float16"], ["float32"]]) == "float16"
    assert policy.target("elementwise_add", [["float16"], ["float32"]]) == "float32"
    assert policy.target("exp", [["float16"]]) == "float32"
