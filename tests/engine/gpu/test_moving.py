"""Values between CPU and GPU: tensors, layers, files, batches, NumPy's arrays."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import nn, optimizer
from engine.core.errors import DeviceError
from engine.core.place import is_cupy


def _on_gpu(*tensors: Any) -> bool:
    return all(is_cupy(t._array) and str(t.place) == "Place(gpu:0)" for t in tensors)


def _on_cpu(*tensors: Any) -> bool:
    return all(isinstance(t._array, np.ndarray) and str(t.place) == "Place(cpu)" for t in tensors)


X = np.arange(6, dtype="float32").reshape(2, 3)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int64", "bool", "complex64"])
def test_a_tensor_goes_to_the_cpu_and_back(dtype: str) -> None:
    x = paddle.to_tensor(X).astype(dtype)
    assert _on_gpu(x)
    for host in (x.cpu(), x.to("cpu"), x._copy_to(paddle.CPUPlace(), True)):
        assert _on_cpu(host)
        assert host.dtype is x.dtype
        assert host.tolist() == x.tolist()
        for back in (host.cuda(), host.to("gpu:0"), host.cuda(0, True)):
            assert _on_gpu(back)
            assert back.dtype is x.dtype
            assert back.tolist() == x.tolist()
    assert x.cuda() is x
    assert x.cpu().cpu().tolist() == x.tolist()


def test_a_tensor_is_created_on_the_requested_device() -> None:
    host = paddle.to_tensor(X, place=paddle.CPUPlace())
    assert _on_cpu(host)
    assert _on_gpu(paddle.to_tensor(X), paddle.to_tensor(X, place="gpu"), paddle.to_tensor(host), host.cuda())
    paddle.set_device("cpu")
    there = paddle.to_tensor(X, place=paddle.CUDAPlace(0))
    assert _on_gpu(there)
    assert _on_cpu(there.cpu(), paddle.to_tensor(there))
    assert _on_gpu(there + 1, paddle.zeros_like(there), there.cpu().cuda(), paddle.rand([2]).cuda())


def test_gradients_flow_between_devices() -> None:
    x = paddle.to_tensor(X, stop_gradient=False)
    y = (x.cpu() * 2).cuda() * x
    y.sum().backward()
    assert _on_gpu(x.grad)
    assert np.array_equal(x.grad.numpy(), 4 * X)
    host = paddle.to_tensor(X, place=paddle.CPUPlace(), stop_gradient=False)
    (found,) = paddle.grad([(host.cuda() ** 3).sum()], [host], create_graph=True)
    assert _on_cpu(found)
    (second,) = paddle.grad([found.sum()], [host])
    assert _on_cpu(second)
    assert np.allclose(second.numpy(), 6 * X)


def test_two_devices_in_one_operator_are_refused() -> None:
    x = paddle.to_tensor(X)
    with pytest.raises(DeviceError, match=r"\.cpu\(\) or \.cuda\(\)"):
        x + x.cpu()


def test_values_leave_for_python_and_numpy() -> None:
    x = paddle.to_tensor(X)
    assert type(x.numpy()) is np.ndarray
    assert type(np.asarray(x)) is np.ndarray
    assert np.array_equal(np.array(x, "float64"), X)
    assert x.tolist() == X.tolist()
    assert x.item(1, 2) == X.item(1, 2)
    assert x.item(4) == X.item(4)
    assert float(x.sum()) == X.sum()
    assert bool(x.max() > 4)
    assert [int(n) for n in paddle.arange(3)] == [0, 1, 2]
    assert f"{x.sum():.1f}" == "15.0"
    assert range(5)[paddle.to_tensor(2)] == 2
    assert "place=Place(gpu:0)" in str(x)
    assert "[3., 4., 5.]" in str(x)
    with pytest.raises(paddle.core.errors.ArgumentError, match="leave copy=False out"):
        np.array(x, copy=False)


def test_numbers_of_bfloat16_leave_as_numbers() -> None:
    x = paddle.to_tensor([1.5, -2.0]).astype("bfloat16")
    assert x.tolist() == x.cpu().tolist() == [0x3FC0, 0xC000]  # the bits, as in Paddle
    assert x.item(0) == 1.5
    assert float(x[1]) == -2.0
    assert not bool(paddle.to_tensor([-0.0]).astype("bfloat16"))
    assert "1.5" in str(x)
    assert x.numpy().tolist() == [0x3FC0, 0xC000]
    x.set_value([3, 4])
    assert [float(n) for n in x] == [3.0, 4.0]
    x[0] = 7.0
    for same in (x, paddle.to_tensor(x), copy.deepcopy(x), x.cpu().cuda()):
        assert [float(n) for n in same] == [7.0, 4.0]


def test_arrays_of_numpy_and_lists_take_part() -> None:
    x = paddle.to_tensor(X.copy())
    for result in (x + X, X + x, X * x, x @ X.T, x - [1.0, 2.0, 3.0], x > X, x / 2, 2 - x):
        assert _on_gpu(result)
    assert np.array_equal((X - x).numpy(), 0 * X)
    assert np.array_equal(x[np.array([1, 0])].numpy(), X[[1, 0]])
    assert np.array_equal(x[[1, 0], np.array([2, 1])].numpy(), X[[1, 0], [2, 1]])
    assert np.array_equal(x[x > 2].numpy(), X[X > 2])
    assert np.array_equal(x[:, 1:].numpy(), X[:, 1:])
    want = X.copy()
    x[0] = want[0] = np.array([7, 8, 9], "float32")
    x[:, 1] = [5.0, 6.0]
    want[:, 1] = [5, 6]
    x[np.array([1])] = want[[1]] = 3.5
    x[x > 6] = want[want > 6] = -1.0
    x[1, 2] = want[1, 2] = X[0, 1]
    assert np.array_equal(x.numpy(), want)
    x.set_value(X)
    assert np.array_equal(x.numpy(), X)
    x.set_value(paddle.to_tensor(X + 1, place=paddle.CPUPlace()))
    assert np.array_equal(x.numpy(), X + 1)
    x.set_value((X + 2).tolist())
    assert np.array_equal(x.numpy(), X + 2)
    assert _on_gpu(x)


def _net() -> Any:
    return nn.Sequential(nn.Conv2D(1, 2, 3), nn.BatchNorm2D(2), nn.ReLU(), nn.Flatten(), nn.Linear(8, 3))


def _state(layer: Any) -> list[Any]:
    return list(layer.state_dict().values())


def _trained(net: Any, opt: Any, steps: int = 2) -> list[float]:
    rng = np.random.default_rng(3)
    losses = []
    for _ in range(steps):
        x, y = rng.standard_normal((4, 1, 4, 4)).astype("float32"), rng.integers(0, 3, (4, 1))
        loss = nn.functional.cross_entropy(net(paddle.to_tensor(x)), paddle.to_tensor(y))
        loss.backward()
        opt.step()
        opt.clear_grad()
        losses.append(loss.item())
    return losses


def test_a_layer_moves_with_its_gradients() -> None:
    net = _net()
    assert _on_gpu(*_state(net))
    net[0].weight.sum().backward()
    net.to("cpu")
    assert _on_cpu(*_state(net), net[0].weight.grad)
    paddle.set_device("cpu")
    assert _on_cpu(net(paddle.ones([1, 1, 4, 4])))
    net.to(device="gpu")
    assert _on_gpu(*_state(net), net[0].weight.grad)
    assert _on_gpu(net(paddle.ones([1, 1, 4, 4]).cuda()))


def test_a_converted_function_follows_its_layer() -> None:
    paddle.set_device("cpu")
    net = paddle.jit.to_static(_net())
    x = paddle.to_tensor(np.ones((4, 1, 4, 4), "float32"))
    want = net(x).numpy()
    net.to("gpu:0")
    found = net(x.cuda())
    assert _on_gpu(found)
    found.sum().backward()
    with paddle.no_grad():
        net.eval()
        assert _on_gpu(net(x.cuda()))
        net.to("cpu")
        assert _on_cpu(net(x))
    net.train()
    assert np.allclose(net(x).numpy(), want, atol=1e-5)


@pytest.mark.parametrize(("saved", "loaded"), [("gpu:0", "cpu"), ("cpu", "gpu:0"), ("gpu:0", "gpu:0")])
def test_a_checkpoint_resumes_exactly_on_either_device(saved: str, loaded: str, tmp_path: Path) -> None:
    paddle.set_device(saved)
    net = _net()
    opt = optimizer.Adam(parameters=net.parameters(), learning_rate=optimizer.lr.StepDecay(0.01, 1))
    _trained(net, opt)
    paddle.save(net.state_dict(), str(tmp_path / "net.pdparams"))
    paddle.save(opt.state_dict(), str(tmp_path / "net.pdopt"))
    want = _trained(net, opt)
    paddle.set_device(loaded)
    other = _net()
    again = optimizer.Adam(parameters=other.parameters(), learning_rate=optimizer.lr.StepDecay(0.01, 1))
    state = paddle.load(str(tmp_path / "net.pdparams"))
    here = _on_cpu if loaded == "cpu" else _on_gpu
    assert here(*state.values())
    other.set_state_dict(state)
    slots = paddle.load(str(tmp_path / "net.pdopt"))
    renamed = {
        b.name + k[len(a.name) :]: v
        for k, v in slots.items()
        for a, b in zip(net.parameters(), other.parameters(), strict=True)
        if k.startswith(a.name + "_")
    }
    again.set_state_dict({**{k: v for k, v in slots.items() if k == "LR_Scheduler"}, **renamed})
    found = _trained(other, again)
    assert here(*_state(other), *[v for v in again.state_dict().values() if isinstance(v, paddle.Tensor)])
    assert found == want if saved == loaded else np.allclose(found, want, atol=1e-5)


def test_a_saved_model_runs_on_the_device_that_loads_it(tmp_path: Path) -> None:
    net = _net()
    net.eval()
    x = paddle.to_tensor(np.random.default_rng(0).standard_normal((2, 1, 4, 4)).astype("float32"))
    want = net(x).numpy()
    spec = [paddle.static.InputSpec([None, 1, 4, 4], "float32")]
    paddle.jit.save(net, str(tmp_path / "m"), input_spec=spec)
    loaded = paddle.jit.load(str(tmp_path / "m"))
    assert _on_gpu(*_state(loaded))
    for _ in range(3):
        assert _on_gpu(loaded(x))
        assert np.allclose(loaded(x).numpy(), want, atol=1e-6)
    loaded.train()
    loaded(x).sum().backward()
    assert _on_gpu(*[p.grad for p in loaded.parameters() if not p.stop_gradient])
    loaded.eval()
    went_on = loaded(x).numpy()  # the running averages have moved
    loaded.to("cpu")
    paddle.set_device("cpu")
    assert np.allclose(loaded(x.cpu()).numpy(), went_on, atol=1e-6)
    host = paddle.jit.load(str(tmp_path / "m"))
    assert _on_cpu(*_state(host))
    assert np.allclose(host(x.cpu()).numpy(), want, atol=1e-6)
    host.to("gpu")
    assert np.allclose(host(x).numpy(), want, atol=1e-6)


def test_a_predictor_runs_on_the_gpu(tmp_path: Path) -> None:
    net = _net()
    net.eval()
    x = np.random.default_rng(0).standard_normal((2, 1, 4, 4)).astype("float32")
    want = net(paddle.to_tensor(x)).numpy()
    spec = [paddle.static.InputSpec([None, 1, 4, 4], "float32")]
    paddle.jit.save(net, str(tmp_path / "m"), input_spec=spec)
    config = paddle.inference.Config(str(tmp_path / "m.pdmodel"), str(tmp_path / "m.pdiparams"))
    config.enable_use_gpu(100, 0)
    predictor = paddle.inference.create_predictor(config)
    for _ in range(2):
        predictor.get_input_handle(predictor.get_input_names()[0]).copy_from_cpu(x)
        assert predictor.run()
        found = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
        assert np.allclose(found, want, atol=1e-6)
    (result,) = predictor.run([paddle.to_tensor(x)])
    assert _on_gpu(result)
    assert np.allclose(result.numpy(), want, atol=1e-6)


def test_batches_of_a_loader_are_on_the_gpu() -> None:
    rows = paddle.io.TensorDataset([X, np.arange(2)])
    for x, y in paddle.io.DataLoader(rows, batch_size=2):
        assert _on_gpu(x, y)
        assert np.array_equal(x.numpy(), X)
    images = [(X, 1), (X + 1, 2)]
    for x, y in paddle.io.DataLoader(images, batch_size=2):
        assert _on_gpu(x, y)
        assert y.tolist() in ([1, 2], [[1], [2]])
