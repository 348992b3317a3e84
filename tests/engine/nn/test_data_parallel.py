"""DataParallel in one process: the wrapped layer's results, parameters and state."""

import pytest

import engine as paddle
from engine.core.errors import DTypeError, ModeError


def test_it_is_the_layer_it_wraps(tmp_path):
    net = paddle.nn.Linear(3, 2)
    with pytest.warns(UserWarning, match="The program will return to single-card operation"):
        wrapped = paddle.DataParallel(net)
    x = paddle.ones([4, 3])
    assert (wrapped(x) == net(x)).all()
    assert list(wrapped.state_dict()) == ["weight", "bias"]
    assert [id(p) for p in wrapped.parameters()] == [id(p) for p in net.parameters()]
    with pytest.warns(UserWarning, match="single-card"):
        other = paddle.DataParallel(paddle.nn.Linear(3, 2))
    other.set_state_dict(wrapped.state_dict())
    assert (other(x) == net(x)).all()
    optimizer = paddle.optimizer.SGD(0.1, parameters=wrapped.parameters())
    with wrapped.no_sync():
        assert not wrapped.grad_need_sync
        loss = wrapped.scale_loss(wrapped(x).sum())
    loss.backward()
    wrapped.apply_collective_grads()
    before = net.bias.numpy()
    optimizer.step()
    assert net.bias.numpy() == pytest.approx(before - 0.4)


def test_data_parallel_refuses_functions_and_uninitialized_processes(monkeypatch):
    with pytest.raises(DTypeError, match="got function"):
        paddle.DataParallel(lambda x: x)
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "2")
    with pytest.raises(ModeError, match=r"2 processes; call paddle\.distributed\.init_parallel_env"):
        paddle.DataParallel(paddle.nn.Linear(1, 1))
    paddle.enable_static()
    try:
        with pytest.raises(ModeError, match="disable_static"):
            paddle.DataParallel(paddle.nn.Sequential())
    finally:
        paddle.disable_static()
