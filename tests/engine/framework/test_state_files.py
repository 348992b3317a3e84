"""save and load of state dicts and nested structures; no pickle."""

import io
import pickle

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError, DataError, FormatError


def test_a_state_dict_comes_back_with_names_and_values(tmp_path):
    net = paddle.nn.Linear(3, 2)
    path = str(tmp_path / "net.pdparams")
    paddle.save(net.state_dict(), path)
    loaded = paddle.load(path)
    assert list(loaded) == ["weight", "bias"]
    np.testing.assert_array_equal(loaded["weight"].numpy(), net.weight.numpy())
    assert loaded["weight"].name == net.weight.name
    other = paddle.nn.Linear(3, 2)
    other.set_state_dict(loaded)
    np.testing.assert_array_equal(other.weight.numpy(), net.weight.numpy())


def test_nested_structures_keep_their_types(tmp_path):
    value = {"a": [paddle.to_tensor([1, 2]), (3, "x", None)], "b": {"c": 2.5, 7: True}, "d": np.arange(3)}
    path = str(tmp_path / "deep" / "state.h5")
    paddle.save(value, path)
    back = paddle.load(path)
    assert back["a"][0].numpy().tolist() == [1, 2]
    assert back["a"][1] == (3, "x", None)
    assert back["b"] == {"c": 2.5, 7: True}
    assert back["d"].tolist() == [0, 1, 2]
    assert isinstance(paddle.load(path, return_numpy=True)["a"][0], np.ndarray)


def test_bytes_in_memory_hold_what_a_file_holds(tmp_path):
    stored = io.BytesIO()
    paddle.save({"w": paddle.to_tensor([1.5, 2.0]), "step": 3}, stored)
    with pytest.raises(FormatError, match="BytesIO"):
        paddle.load(stored)  # read on from where writing ended: nothing is left
    stored.seek(0)
    back = paddle.load(stored)
    assert back["w"].numpy().tolist() == [1.5, 2.0]
    assert back["step"] == 3
    (tmp_path / "copy").write_bytes(stored.getvalue())
    assert paddle.load(str(tmp_path / "copy"), return_numpy=True)["w"].tolist() == [1.5, 2.0]
    with pytest.raises(FormatError, match="BytesIO"):
        paddle.load(io.BytesIO(pickle.dumps({"a": open})))


def test_several_objects_in_one_bytesio():
    stored = io.BytesIO()
    paddle.save({"step": 3}, stored)
    second = stored.tell()
    paddle.save(paddle.to_tensor([3.0]), stored)
    stored.seek(0)
    assert paddle.load(stored) == {"step": 3}
    assert stored.tell() == second
    assert paddle.load(stored).tolist() == [3.0]
    cut = io.BytesIO(stored.getvalue()[: second - 1])
    with pytest.raises(FormatError, match="truncated"):
        paddle.load(cut)


def test_an_object_is_not_saved(tmp_path):
    with pytest.raises(ArgumentError, match=r"obj\['model'\] is Linear"):
        paddle.save({"model": paddle.nn.Linear(1, 1)}, str(tmp_path / "x"))


def test_a_pickle_is_refused_without_being_run(tmp_path):
    marker = tmp_path / "ran"

    class Bad:
        def __reduce__(self):
            return (open, (str(marker), "w"))

    path = tmp_path / "bad.pdparams"
    path.write_bytes(pickle.dumps(Bad()))
    with pytest.raises(FormatError, match=r"bad\.pdparams"):
        paddle.load(str(path))
    assert not marker.exists()


def test_an_absent_file_is_named(tmp_path):
    with pytest.raises(DataError, match="nowhere"):
        paddle.load(str(tmp_path / "nowhere.pdparams"))


def test_seed_and_state_of_random_numbers():
    paddle.seed(9)
    first = paddle.rand([3]).numpy()
    state = paddle.get_rng_state()
    second = paddle.rand([3]).numpy()
    paddle.set_rng_state(state)
    np.testing.assert_array_equal(paddle.rand([3]).numpy(), second)
    paddle.seed(9)
    np.testing.assert_array_equal(paddle.rand([3]).numpy(), first)
    assert not np.array_equal(first, second)


def test_states_of_the_gpu_are_none_on_the_cpu():
    assert paddle.get_cuda_rng_state() == []
    paddle.set_cuda_rng_state([])
    with pytest.raises(ArgumentError, match=r"takes 0 state\(s\) on cpu: got 1"):
        paddle.set_cuda_rng_state([{"seed": 1, "offset": 0}])


def test_loaded_tensors_stop_gradients(tmp_path):
    path = str(tmp_path / "x")
    paddle.save([paddle.nn.Linear(1, 1).weight, paddle.to_tensor([1.0], stop_gradient=False)], path)
    assert [t.stop_gradient for t in paddle.load(path)] == [True, True]
    paddle.save(np.arange(3), path)
    assert isinstance(paddle.load(path), paddle.Tensor)
    assert isinstance(paddle.load(path, return_numpy=True), np.ndarray)
