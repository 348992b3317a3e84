"""Layer: attributes, the tree, names, modes, hooks, state and text."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from engine import nn
from engine.amp import on_cpu
from engine.core import names
from engine.core.errors import ArgumentError, DTypeError, ModeError, ShapeError
from engine.eager.tensor import Parameter, Tensor
from engine.tensor import to_tensor


class Net(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.norm = nn.BatchNorm1D(4)
        self.rest = nn.Sequential(nn.ReLU(), nn.Linear(4, 2, bias_attr=False))

    def forward(self, x):
        return self.rest(self.norm(self.first(x)))


@pytest.fixture
def net():
    with names.guard():
        return Net()


def ones(*shape: int) -> Tensor:
    return to_tensor(np.ones(shape, "float32"))


def test_names_are_paddles(net) -> None:
    # Printed by PaddlePaddle 2.6.2 for the same class in a fresh process.
    assert [(n, p.name, p.shape, p.stop_gradient) for n, p in net.named_parameters()] == [
        ("first.weight", "linear_0.w_0", [3, 4], False),
        ("first.bias", "linear_0.b_0", [4], False),
        ("norm.weight", "batch_norm1d_0.w_0", [4], False),
        ("norm.bias", "batch_norm1d_0.b_0", [4], False),
        ("norm._mean", "batch_norm1d_0.w_1", [4], True),
        ("norm._variance", "batch_norm1d_0.w_2", [4], True),
        ("rest.1.weight", "linear_1.w_0", [4, 2], False),
    ]
    assert [layer.full_name() for layer in net.sublayers(include_self=True)] == [
        "net_0",
        "linear_0",
        "batch_norm1d_0",
        "sequential_0",
        "re_lu_0",
        "linear_1",
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Conv2D", "conv2d_0"),
        ("MaxPool2D", "max_pool2d_0"),
        ("LeNet", "le_net_0"),
        ("BCELoss", "bce_loss_0"),
        ("my_layer", "my_layer_0"),
    ],
)
def test_full_name_is_the_class_in_snake_case(name: str, expected: str) -> None:
    with names.guard():
        assert type(name, (nn.Layer,), {})().full_name() == expected


def test_name_scope_and_attr_name() -> None:
    with names.guard():
        layer = nn.Layer(name_scope="demo")
        assert layer.full_name() == "demo_0"
        assert layer.create_parameter([2]).name == "demo_0.w_0"
        assert layer.create_parameter([2], is_bias=True).name == "demo_0.b_0"
        assert layer.create_parameter([2], attr="mine").name == "mine"
    assert layer.create_parameter([2], attr=False) is None


def test_text(net) -> None:
    assert repr(net) == (
        "Net(\n"
        "  (first): Linear(in_features=3, out_features=4, dtype=float32)\n"
        "  (norm): BatchNorm1D(num_features=4, momentum=0.9, epsilon=1e-05, data_format=NCL)\n"
        "  (rest): Sequential(\n"
        "    (0): ReLU()\n"
        "    (1): Linear(in_features=4, out_features=2, dtype=float32)\n"
        "  )\n"
        ")"
    )


def test_text_of_layers() -> None:
    # As PaddlePaddle 2.6.2 prints them.
    assert (
        repr(nn.Conv2D(1, 6, 5, padding=2)) == "Conv2D(1, 6, kernel_size=[5, 5], padding=2, data_format=NCHW)"
    )
    assert repr(nn.Conv2D(2, 4, (3, 2), 2, "SAME", dilation=2, groups=2, data_format="NHWC")) == (
        "Conv2D(2, 4, kernel_size=[3, 2], stride=[2, 2], padding=SAME, dilation=[2, 2], groups=2, "
        "data_format=NHWC)"
    )
    assert repr(nn.MaxPool2D(2, 2)) == "MaxPool2D(kernel_size=2, stride=2, padding=0)"
    assert repr(nn.Dropout(0.2, axis=1)) == "Dropout(p=0.2, axis=1, mode=upscale_in_train)"
    assert repr(nn.LayerNorm([3, 4])) == "LayerNorm(normalized_shape=[3, 4], epsilon=1e-05)"
    assert repr(nn.Embedding(10, 3, padding_idx=-2)) == "Embedding(10, 3, padding_idx=-2, sparse=False)"
    assert repr(nn.Softmax()) == "Softmax(axis=-1)"
    assert repr(nn.ReLU(name="a")) == "ReLU(name=a)"
    assert repr(nn.Flatten()) == "Flatten()"


def test_attributes_change_kind() -> None:
    layer = nn.Layer()
    layer.thing = 3
    layer.thing = nn.ReLU()
    assert "thing" in layer._sub_layers
    assert "thing" not in layer.__dict__
    layer.thing = layer.create_parameter([1])
    assert "thing" in layer._parameters
    assert "thing" not in layer._sub_layers
    with pytest.raises(DTypeError, match="is a parameter"):
        layer.thing = ones(1)
    with pytest.raises(DTypeError, match="assign a Parameter or None"):
        layer.thing = 3
    layer.thing = None
    assert layer.thing is None
    assert layer.parameters() == []
    del layer.thing
    with pytest.raises(AttributeError, match="thing"):
        _ = layer.thing


def test_attribute_error_of_a_property_is_shown() -> None:
    class Broken(nn.Layer):
        @property
        def size(self) -> int:
            return self.absent

    with pytest.raises(AttributeError, match="absent"):
        _ = Broken().size


def test_dir_names_everything(net) -> None:
    net.register_buffer("buffer", ones(1))
    assert {"first", "buffer", "forward", "training"} <= set(dir(net))
    assert {"weight", "bias"} <= set(dir(net.first))


def test_assignment_before_init() -> None:
    class Early(nn.Layer):
        def __init__(self) -> None:
            self.layer = nn.ReLU()

    with pytest.raises(ArgumentError, match=r"'layer' was assigned before super\(\)"):
        Early()


def test_shared_layers_and_parameters_appear_once() -> None:
    shared = nn.Linear(2, 2)
    net = nn.Sequential(shared, nn.ReLU(), shared)
    assert [n for n, _ in net.named_parameters()] == ["0.weight", "0.bias"]
    assert [n for n, _ in net.named_sublayers()] == ["0", "1"]
    assert list(net.state_dict()) == ["0.weight", "0.bias", "2.weight", "2.bias"]


def test_buffers() -> None:
    layer = nn.Linear(2, 2)
    layer.register_buffer("kept", ones(1))
    layer.register_buffer("passing", ones(2), persistable=False)
    layer.plain = ones(3)
    assert [n for n, _ in layer.named_buffers()] == ["kept", "passing", "plain"]
    assert list(layer.state_dict()) == ["weight", "bias", "kept"]
    assert list(layer.to_static_state_dict()) == ["weight", "bias", "kept", "passing", "plain"]
    layer.passing = ones(5)
    assert layer.passing.shape == [5]
    with pytest.raises(ArgumentError, match="exists already"):
        layer.register_buffer("weight", ones(1))
    with pytest.raises(ArgumentError, match="no dot"):
        layer.register_buffer("a.b", ones(1))
    with pytest.raises(DTypeError, match="must be a Tensor: got ndarray"):
        layer.register_buffer("array", np.ones(1))


def test_add_parameter_and_sublayer() -> None:
    layer = nn.Layer()
    parameter = layer.create_parameter([2])
    assert layer.add_parameter("own", parameter) is parameter
    assert layer.own is parameter
    inner = nn.ReLU()
    assert layer.add_sublayer("inner", inner) is inner
    with pytest.raises(DTypeError, match="must be a Parameter"):
        layer.add_parameter("other", ones(1))
    with pytest.raises(DTypeError, match="pass an instance"):
        layer.add_sublayer("other", nn.ReLU)


def test_create_parameter_attributes() -> None:
    layer = nn.Layer()
    attr = nn.ParamAttr(name="p", learning_rate=0.5, trainable=False, need_clip=False)
    parameter = layer.create_parameter([2, 3], attr)
    assert parameter.name == "p"
    assert parameter.optimize_attr == {"learning_rate": 0.5}
    assert parameter.stop_gradient
    assert not parameter.need_clip
    assert parameter.persistable
    with pytest.raises(ShapeError, match=r"got shape \[0, 3\]"):
        layer.create_parameter([0, 3])
    with pytest.raises(DTypeError, match="trainable must be bool"):
        nn.ParamAttr(trainable=1)
    with pytest.raises(DTypeError, match="can't be made of int"):
        layer.create_parameter([2], attr=3)


def test_train_and_eval_reach_all(net) -> None:
    net.eval()
    assert not any(layer.training for layer in net.sublayers(include_self=True))
    net.rest.train()
    assert net.rest[1].training
    assert not net.first.training


def test_apply_goes_children_first(net) -> None:
    seen: list[str] = []
    assert net.apply(lambda layer: seen.append(type(layer).__name__)) is net
    assert seen == ["Linear", "BatchNorm1D", "ReLU", "Linear", "Sequential", "Net"]


def test_hooks() -> None:
    layer = nn.Identity()
    seen = []
    before = layer.register_forward_pre_hook(lambda own, inputs: (inputs[0] * 2,))
    after = layer.register_forward_post_hook(lambda own, inputs, out: out + inputs[0])
    watch = layer.register_forward_post_hook(lambda own, inputs, out: seen.append(own))
    assert layer(ones(1)).item() == 4.0
    assert seen == [layer]
    before.remove()
    assert layer(ones(1)).item() == 2.0
    after.remove()
    after.remove()
    watch.remove()
    assert layer(ones(1)).item() == 1.0


def test_build_once_runs_once() -> None:
    class Late(nn.Layer):
        count = 0

        def _build_once(self, x) -> None:
            self.count += 1
            self.weight = self.create_parameter(x.shape)

        def forward(self, x):
            return x * self.weight

    layer = Late()
    layer(ones(3))
    layer(ones(3))
    assert layer.count == 1
    assert layer.weight.shape == [3]


def test_state_dict_holds_the_live_tensors(net) -> None:
    state = net.state_dict()
    assert state["first.weight"] is net.first.weight
    assert next(iter(net.state_dict(structured_name_prefix="a."))) == "a.first.weight"
    assert list(net.state_dict(include_sublayers=False)) == []


def test_state_dict_hook(net) -> None:
    handle = net.first.register_state_dict_hook(
        lambda state: {k: v for k, v in state.items() if "bias" not in k}
    )
    assert "first.bias" not in net.state_dict()
    assert "first.bias" in net.state_dict(use_hook=False)
    handle.remove()
    assert "first.bias" in net.state_dict()


def test_set_state_dict_round_trip(net) -> None:
    other = Net()
    weight = other.first.weight
    assert other.set_state_dict({k: v.numpy() for k, v in net.state_dict().items()}) == ([], [])
    assert other.first.weight is weight
    x = to_tensor(np.random.RandomState(0).randn(5, 3).astype("float32"))
    np.testing.assert_array_equal(other(x).numpy(), net(x).numpy())
    assert other.set_dict(net.state_dict()) == ([], [])
    assert other.load_dict(net.state_dict()) == ([], [])


def test_set_state_dict_by_parameter_name(net) -> None:
    values = {p.name: np.full(p.shape, 2.0, "float32") for p in net.parameters()}
    assert net.set_state_dict(values, use_structured_name=False) == ([], [])
    assert (net.first.weight.numpy() == 2.0).all()


@pytest.mark.parametrize("value", [[1.0], "x", 3])
def test_set_state_dict_of_what_is_no_array(net, value: object) -> None:
    name = next(iter(net.state_dict()))
    with pytest.raises(DTypeError, match=f"{name} is of type {type(value).__name__}"):
        net.set_state_dict({name: value})


def test_set_state_dict_reports_what_does_not_fit(net) -> None:
    state = dict(net.state_dict())
    state["more"] = ones(1)
    state["first.weight"] = ones(7)
    del state["first.bias"]
    before = net.first.weight.numpy()
    with pytest.warns(UserWarning, match="Skip loading") as warned:
        missing, unexpected = net.set_state_dict(state)
    assert missing == ["first.weight", "first.bias"]
    assert unexpected == ["first.weight", "more"]
    assert [str(w.message) for w in warned] == [
        "Skip loading for first.weight. first.weight receives a shape [7], but the expected shape is [3, 4].",
        "Skip loading for first.bias. first.bias is not found in the provided dict.",
    ]
    np.testing.assert_array_equal(net.first.weight.numpy(), before)
    with pytest.raises(DTypeError, match="takes a dict"):
        net.set_state_dict([1])


def test_to_astype_and_float(net) -> None:
    net(ones(2, 3)).sum().backward()
    weight = net.first.weight
    assert net.to(dtype="float64") is net
    assert net.first.weight is weight
    assert weight.dtype == "float64"
    assert weight.grad.dtype == "float64"
    net.register_buffer("count", to_tensor(np.array([1])))
    net.float()
    assert weight.dtype == "float32"
    assert net.count.dtype == "int64"
    assert net.astype("float64").first._dtype == "float64"
    assert net.count.dtype == "float64"
    net.to(device="cpu")
    assert weight.place.is_cpu_place()
    with pytest.raises(ArgumentError, match="blocking"):
        net.to(blocking=1)


def test_float16_leaves_batch_norm_out() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm(2))
    with pytest.warns(UserWarning, match="does not support float16, so keep original data type"):
        assert net.float16() is net
    assert net[0].weight.dtype == "float32"
    with on_cpu():
        net.float16()
    assert net[0].weight.dtype == "float16"
    assert net[1].weight.dtype == "float32"


def test_clear_gradients(net) -> None:
    net(ones(2, 3)).sum().backward()
    net.clear_gradients()
    assert (net.first.weight.grad.numpy() == 0).all()


def test_deepcopy_is_apart(net) -> None:
    twin = copy.deepcopy(net)
    assert list(twin.state_dict()) == list(net.state_dict())
    assert twin.first.weight.name == "linear_0.w_0_deepcopy_0"
    assert not twin.first.weight.stop_gradient
    twin.first.weight.set_value(np.zeros((3, 4), "float32"))
    assert net.first.weight.numpy().any()


def test_crosses_to_another_process(net) -> None:
    twin = pickle.loads(pickle.dumps(nn.Sequential(nn.Linear(2, 3))))
    assert isinstance(twin[0].weight, Parameter)
    assert twin(ones(1, 2)).shape == [1, 3]


def test_errors_of_missing_methods() -> None:
    class Empty(nn.Layer):
        pass

    with pytest.raises(ModeError, match="Empty: has no forward"):
        Empty()(1)
    with pytest.raises(ModeError, match="has no backward"):
        nn.ReLU().backward()


def test_shape_mismatch_names_layer_and_operator() -> None:
    with names.guard():
        net = nn.Sequential(nn.Flatten(), nn.Linear(20, 3))
    with pytest.raises(
        ShapeError, match=r"matmul: x is float32\[2, 30\] and y is float32\[20, 3\]"
    ) as caught:
        net(ones(2, 5, 6))
    assert caught.value.__notes__ == [
        "in layer linear_0: Linear(in_features=20, out_features=3, dtype=float32)"
    ]
    with pytest.raises(ShapeError, match="make in_channels of the layer 1"):
        nn.Conv2D(3, 6, 5)(ones(2, 1, 28, 28))


def test_create_tensor() -> None:
    with names.guard():
        layer = nn.Layer(name_scope="demo")
        made = layer.create_tensor(name="x", dtype="float64")
        assert (made.name, made.dtype, made.persistable) == ("demo_0.x", "float64", False)
        assert layer.create_tensor().name == "demo_0._generated_var_0"
