"""Hooks of the Layer that jit.save saves, and forwards that it skips; values recorded with Paddle 2.6.2."""

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.core.strictness import LeniencyWarning
from engine.jit import load, save, to_static
from engine.static import InputSpec

SPEC = [InputSpec([None, 2])]
ONE = nn.initializer.Constant(1.0)


def linear():
    return nn.Linear(2, 1, weight_attr=ONE, bias_attr=ONE)


def saved_value(layer, path, **options):
    assert save(layer, str(path), **options) is None
    return load(str(path))(paddle.ones([1, 2])).item()


def doubled(layer, inputs, outputs):
    return outputs * 2


def tenfold(layer, inputs):
    return inputs[0] * 10


def in_a_tuple(layer, inputs):
    return (inputs[0] * 10,)


def without_result(layer, inputs, outputs):
    assert layer is not None


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (None, doubled, 6.0),
        (tenfold, None, 21.0),
        (in_a_tuple, None, 21.0),
        (tenfold, doubled, 42.0),
        (None, without_result, 3.0),
    ],
)
@pytest.mark.parametrize("converted", [False, True])
@pytest.mark.parametrize("with_hook", [False, True])
def test_hooks_of_the_saved_layer_are_saved(tmp_path, before, after, expected, converted, with_hook):
    layer = linear()
    if before is not None:
        layer.register_forward_pre_hook(before)
    if after is not None:
        layer.register_forward_post_hook(after)
    if converted:
        layer = to_static(layer, input_spec=SPEC)
    assert layer(paddle.ones([1, 2])).item() == expected
    spec = None if converted else SPEC
    assert saved_value(layer, tmp_path / "m", input_spec=spec, with_hook=with_hook) == expected


def test_hooks_of_a_layer_that_was_called_before_it_is_saved(tmp_path):
    layer = to_static(linear())
    layer.register_forward_post_hook(doubled)
    assert layer(paddle.ones([1, 2])).item() == 6.0
    assert saved_value(layer, tmp_path / "m") == 6.0


def test_hooks_of_a_hook_that_decides_by_a_tensor(tmp_path):
    def clipped(layer, inputs, outputs):
        if outputs.sum() > 2:
            outputs = outputs - 2
        return outputs

    layer = linear()
    layer.register_forward_post_hook(clipped)
    save(layer, str(tmp_path / "m"), input_spec=SPEC)
    loaded = load(str(tmp_path / "m"))
    assert loaded(paddle.ones([1, 2])).item() == 1.0
    assert loaded(paddle.zeros([1, 2])).item() == 1.0


def test_a_converted_function_of_a_hooked_layer_has_no_hooks(tmp_path):
    layer = to_static(linear(), input_spec=SPEC)
    layer.register_forward_post_hook(doubled)
    assert saved_value(layer.forward, tmp_path / "m") == 3.0


def test_skip_forward_of_a_layer_without_methods_writes_nothing(tmp_path):
    with pytest.warns(LeniencyWarning, match="nothing is saved"):
        save(linear(), str(tmp_path / "m"), input_spec=SPEC, skip_forward=True)
    assert list(tmp_path.iterdir()) == []


class Coder(nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner = linear()

    def forward(self, x):
        return x.not_a_method()

    @to_static(input_spec=SPEC)
    def encode(self, x):
        return self.inner(x)


def test_skip_forward_saves_the_methods(tmp_path):
    save(Coder(), str(tmp_path / "m"), skip_forward=True)
    loaded = load(str(tmp_path / "m"))
    assert loaded.encode(paddle.ones([1, 2])).item() == 3.0
    assert sorted(loaded.state_dict()) == ["inner.bias", "inner.weight"]
    with pytest.raises(ValueError, match="no forward was saved"):
        loaded(paddle.ones([1, 2]))


def test_of_data_parallel_the_network_is_saved(tmp_path):
    for n, layer in enumerate((linear(), to_static(linear(), input_spec=SPEC))):
        with pytest.warns(UserWarning, match="single-card"):
            parallel = paddle.DataParallel(layer)
        spec = None if n else SPEC
        assert saved_value(parallel, tmp_path / f"m{n}", input_spec=spec) == 3.0
        assert sorted(load(str(tmp_path / f"m{n}")).state_dict()) == ["bias", "weight"]


def test_save_needs_the_conversion(tmp_path):
    paddle.jit.enable_to_static(False)
    try:
        with pytest.raises(RuntimeError, match="enable_to_static"):
            save(linear(), str(tmp_path / "m"), input_spec=SPEC)
    finally:
        paddle.jit.enable_to_static(True)


def test_names_of_dict_inputs_are_their_keys(tmp_path):
    class Named(nn.Layer):
        def forward(self, d, k=2):
            return d["x"] * k + d["y"]

    spec = {"x": InputSpec([None, 2], name="first"), "y": InputSpec([None, 2])}
    save(Named(), str(tmp_path / "m"), input_spec=[spec])
    loaded = load(str(tmp_path / "m"))
    assert [s.name for s in loaded._input_spec()] == ["first", "y"]
    np.testing.assert_array_equal(loaded(paddle.ones([1, 2]), paddle.ones([1, 2])).numpy(), [[3.0, 3.0]])


def test_an_unknown_option_of_load(tmp_path):
    save(linear(), str(tmp_path / "m"), input_spec=SPEC)
    with pytest.raises(ValueError, match="unknown option"):
        load(str(tmp_path / "m"), nonsense=1)


def test_a_spec_of_another_width_than_a_product_takes(tmp_path):
    class Net(nn.Layer):  # as in Paddle's guide to saving models
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(10, 3)

        def forward(self, x, y):
            return self.linear(x) + y

    spec = [InputSpec([None, 3], name="x"), InputSpec([3], name="y")]
    net = Net()
    x, y = paddle.rand([2, 10]), paddle.rand([3])
    for layer, given in ((net, spec), (to_static(net, input_spec=spec), None)):
        with pytest.warns(LeniencyWarning, match="the inner dimensions are 3 and 10"):
            save(layer, str(tmp_path / "m"), input_spec=given)
        loaded = load(str(tmp_path / "m"))
        np.testing.assert_allclose(loaded(x, y).numpy(), net.linear(x).numpy() + y.numpy(), rtol=1e-6)
        assert loaded._input_spec()[0].shape == (-1, -1)
        with pytest.raises(ValueError, match="inner dimensions"):
            loaded(paddle.rand([2, 3]), y)
    with paddle.strict(), pytest.raises(ValueError, match="inner dimensions"):
        save(Net(), str(tmp_path / "m"), input_spec=spec)
