"""The three inference files: saved, loaded where the source was never seen, trained further, damaged."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError, DataError, FormatError, SaveError
from engine.jit.export import write_layer
from engine.static import InputSpec

ROOT = Path(__file__).resolve().parents[3]


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = paddle.nn.Conv2D(1, 2, 3)
        self.norm = paddle.nn.BatchNorm2D(2)
        self.drop = paddle.nn.Dropout(0.5)
        self.linear = paddle.nn.Linear(2 * 4 * 4, 3)

    def forward(self, x):
        x = self.drop(paddle.nn.functional.relu(self.norm(self.conv(x))))
        x = paddle.flatten(x, 1)
        if x.sum() > 1000:
            x = x * 0.5
        return self.linear(x)


@pytest.fixture
def saved(tmp_path):
    paddle.seed(5)
    net = Net()
    net.eval()
    prefix = str(tmp_path / "inference" / "model")
    paddle.jit.save(net, prefix, [InputSpec([None, 1, 6, 6], name="x")], info={"classes": ["a", "b", "c"]})
    return net, prefix


IMAGES = np.random.default_rng(0).standard_normal((4, 1, 6, 6)).astype("float32")


def test_three_hdf5_files(saved):
    import h5py

    _, prefix = saved
    for suffix in ("pdmodel", "pdiparams", "pdiparams.info"):
        with h5py.File(f"{prefix}.{suffix}") as file:
            assert len(file) >= 1


def test_a_process_without_the_source_gives_the_same_bits(saved, tmp_path):
    net, prefix = saved
    np.save(tmp_path / "x.npy", IMAGES)
    code = (
        "import numpy, engine, sys; layer = engine.jit.load(sys.argv[1]); layer.eval();"
        "numpy.save(sys.argv[3], layer(engine.to_tensor(numpy.load(sys.argv[2]))).numpy())"
    )
    out = tmp_path / "y.npy"
    subprocess.run([sys.executable, "-c", code, prefix, tmp_path / "x.npy", out], check=True, cwd=ROOT)
    np.testing.assert_array_equal(np.load(out), net(paddle.to_tensor(IMAGES)).numpy())


def test_the_information_comes_back(saved):
    _, prefix = saved
    layer = paddle.jit.load(prefix)
    assert layer.info == {"classes": ["a", "b", "c"]}
    assert layer.input_specs() == [InputSpec([None, 1, 6, 6], "float32", "x")]
    assert set(layer.state_dict()) >= {"conv.weight", "linear.bias", "norm._mean"}


def test_training_continues_as_the_original_would(saved):
    net, prefix = saved
    loaded = paddle.jit.load(prefix)
    x = paddle.to_tensor(IMAGES)
    losses = []
    for model in (net, loaded):
        model.train()
        paddle.seed(1)
        seen = []
        for _ in range(4):
            loss = (model(x) ** 2).mean()
            loss.backward()
            with paddle.no_grad():
                for p in (p for p in model.parameters() if p.trainable):
                    p.set_value(p - 0.1 * p.grad)
            model.clear_gradients()
            seen.append(loss.item())
        model.eval()
        seen.append(model(x).sum().item())
        losses.append(seen)
    np.testing.assert_allclose(losses[1], losses[0], rtol=1e-5)
    assert losses[0][0] != losses[0][3]


def test_a_loaded_model_can_be_saved_again(saved, tmp_path):
    net, prefix = saved
    again = str(tmp_path / "again")
    loaded = paddle.jit.load(prefix)
    loaded.eval()
    paddle.jit.save(loaded, again, loaded.input_specs())
    x = paddle.to_tensor(IMAGES)
    np.testing.assert_array_equal(paddle.jit.load(again)(x).numpy(), net(x).numpy())


def test_a_wrong_input_is_refused_by_name(saved):
    layer = paddle.jit.load(saved[1])
    with pytest.raises(ValueError, match="matmul"):  # what the operators take is what counts
        layer(paddle.ones([1, 1, 5, 6]))
    with pytest.raises(TypeError, match="'x' has dtype int64"):
        layer(paddle.ones([1, 1, 6, 6], "int64"))
    with pytest.raises(ArgumentError, match="2 inputs"):
        layer(paddle.ones([1, 1, 6, 6]), paddle.ones([1]))


def test_files_of_two_saves_do_not_mix(saved, tmp_path):
    net, prefix = saved
    other = str(tmp_path / "other")
    paddle.jit.save(net, other, [InputSpec([None, 1, 6, 6], name="x")])
    Path(f"{prefix}.pdiparams").write_bytes(Path(f"{other}.pdiparams").read_bytes())
    with pytest.raises(FormatError, match="pdiparams"):
        paddle.jit.load(prefix)


@pytest.mark.parametrize("suffix", ["pdmodel", "pdiparams", "pdiparams.info"])
@pytest.mark.parametrize("harm", ["flip", "cut", "foreign", "gone"])
def test_damage_is_refused_and_named(saved, suffix, harm):
    path = Path(f"{saved[1]}.{suffix}")
    data = bytearray(path.read_bytes())
    if harm == "flip":
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    elif harm == "cut":
        path.write_bytes(data[: len(data) * 2 // 3])
    elif harm == "foreign":
        path.write_bytes(b"PK\x03\x04 this is something else")
    else:
        path.unlink()
    with pytest.raises(DataError if harm == "gone" else FormatError, match=path.name.replace(".", r"\.")):
        paddle.jit.load(saved[1])


def test_saving_where_nothing_can_be_written_keeps_what_was_there(saved, tmp_path):
    net, _ = saved
    blocker = tmp_path / "file"
    blocker.write_text("mine")
    with pytest.raises(SaveError):
        paddle.jit.save(net, str(blocker / "model"), [InputSpec([None, 1, 6, 6])])
    assert blocker.read_text() == "mine"


def test_saving_needs_to_know_the_inputs(tmp_path):
    with pytest.raises(ArgumentError, match="input_spec"):
        paddle.jit.save(Net(), str(tmp_path / "m"))
    with pytest.raises(TypeError, match="int"):
        paddle.jit.save(3, str(tmp_path / "m"))


def test_a_method_other_than_forward(tmp_path):
    class Two(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.linear = paddle.nn.Linear(3, 2)

        def forward(self, x):
            return self.linear(x)

        def another(self, x):
            return self.linear(x) * 2

    net = Two()
    function = paddle.jit.to_static(net.another, input_spec=[InputSpec([None, 3], name="x")])
    paddle.jit.save(function, str(tmp_path / "another"))
    x = paddle.ones([1, 3])
    np.testing.assert_array_equal(
        paddle.jit.load(str(tmp_path / "another"))(x).numpy(), net.another(x).numpy()
    )


def test_a_program_that_lies_about_its_weights_is_refused(saved):
    from engine.files.inference import read_inference, write_inference

    files = read_inference(saved[1])
    weights = dict(files.weights)
    name = next(iter(weights))
    weights[name] = weights[name].reshape(-1)[:1]
    write_inference(saved[1], files.program, weights, files.info)
    with pytest.raises(FormatError, match=name):
        paddle.jit.load(saved[1])


def test_a_program_with_an_unknown_operator_is_refused(saved):
    from engine.files.inference import read_inference, write_inference

    files = read_inference(saved[1])
    program = dict(files.program)
    program["blocks"][0]["ops"][0]["type"] = "os_system"
    write_inference(saved[1], program, files.weights, files.info)
    with pytest.raises(FormatError, match="os_system"):
        paddle.jit.load(saved[1])


def test_a_loaded_model_begins_in_the_mode_for_predicting(tmp_path):
    net = Net()  # saved while it trains, as after the last epoch
    paddle.jit.save(net, str(tmp_path / "m"), [InputSpec([None, 1, 6, 6])])
    loaded = paddle.jit.load(str(tmp_path / "m"))
    assert not loaded.training
    net.eval()
    x = paddle.to_tensor(IMAGES)
    np.testing.assert_array_equal(loaded(x).numpy(), net(x).numpy())


def test_a_loaded_model_follows_the_mode_of_the_layer_it_is_part_of(saved):
    _, prefix = saved
    whole = paddle.nn.Sequential(paddle.jit.load(prefix), paddle.nn.Linear(3, 3))
    x = paddle.to_tensor(IMAGES)
    whole.eval()
    predicted = whole[0](x).tolist()
    whole.train()
    assert whole[0].training
    assert whole[0](x).tolist() != predicted


def test_a_loaded_model_is_saved_again_without_saying_its_inputs(saved, tmp_path):
    _, prefix = saved
    first = paddle.jit.load(prefix)
    paddle.jit.save(first, str(tmp_path / "again"))
    second = paddle.jit.load(str(tmp_path / "again"))
    assert second.input_specs() == first.input_specs()
    x = paddle.to_tensor(IMAGES)
    np.testing.assert_array_equal(second(x).numpy(), first(x).numpy())
    assert second.state_dict().keys() == first.state_dict().keys()


def test_one_packed_file_holds_what_three_do(saved, tmp_path):
    net, prefix = saved
    spec = [InputSpec([None, 1, 6, 6], name="x")]
    for compress in (False, True):
        save_id = write_layer(
            net, prefix + "-one", spec, info={"classes": ["a"]}, format="packed", compress=compress
        )
        for path in (prefix + "-one", prefix + "-one.h5"):
            layer = paddle.jit.load(path)
            np.testing.assert_array_equal(
                layer(paddle.to_tensor(IMAGES)).numpy(), net(paddle.to_tensor(IMAGES)).numpy()
            )
            assert layer.info == {"classes": ["a"]}
        assert len(save_id) == 32
    weights = paddle.load(prefix + "-one.h5")
    assert set(weights) == set(net.state_dict())
    assert sorted(path.name for path in (tmp_path / "inference").glob("model-one*")) == ["model-one.h5"]


def test_an_unknown_format_is_refused(saved):
    net, prefix = saved
    with pytest.raises(ArgumentError, match="format 'zip' is unknown: choose one of native, packed"):
        paddle.jit.save(net, prefix, format="zip", input_spec=[InputSpec([None, 1, 6, 6])])
    with pytest.raises(ArgumentError, match="compress=True makes packed files smaller"):
        paddle.jit.save(net, prefix, compress=True, input_spec=[InputSpec([None, 1, 6, 6])])


class Tied(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.embedding = paddle.nn.Embedding(50, 40)
        self.again = self.embedding

    def forward(self, x):
        return paddle.matmul(self.again(x), self.embedding.weight, transpose_y=True)


def test_a_shared_weight_is_stored_once(tmp_path):
    net = Tied()
    paddle.jit.save(net, str(tmp_path / "m"), [InputSpec([None], "int64")], format="packed")
    assert (tmp_path / "m.h5").stat().st_size < 50 * 40 * 4 + 12_000
    loaded = paddle.jit.load(str(tmp_path / "m.h5"))
    x = paddle.to_tensor(np.arange(3))
    np.testing.assert_array_equal(loaded(x).numpy(), net(x).numpy())
    assert len(loaded.parameters()) == 1
