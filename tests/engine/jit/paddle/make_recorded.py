"""Makes the models in ``recorded`` with paddlepaddle 2.6.2; those with ``_3`` with 3.3.1.

Each is saved by ``paddle.jit.save`` or ``static.save_inference_model``. ``NAME.npz`` has the inputs i0, i1
and so on, and the outputs o0, o1 of the loaded model; for some of them also, after ``g:``, the gradients of
the sum of the means of the squared outputs. Run as ``python tests/engine/jit/paddle/make_recorded.py``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import paddle
from paddle import nn
from paddle.static import InputSpec

FOLDER = Path(__file__).parent / "recorded"
RANDOM = np.random.RandomState(0)


def normal(*shape: int) -> np.ndarray:
    return RANDOM.normal(size=shape).astype("float32")


def save(
    name: str, net: Any, specs: Sequence[Any], arrays: Sequence[np.ndarray], trained: bool = False
) -> None:
    net.eval()
    for layer in net.sublayers():
        if isinstance(layer, nn.BatchNorm2D):  # real statistics: outputs near zero hide faults
            layer._mean.set_value(normal(*layer._mean.shape) * 0.1)
            layer._variance.set_value(np.abs(normal(*layer._variance.shape)) + 0.5)
    paddle.jit.save(net, str(FOLDER / name), input_spec=list(specs))
    record(name, arrays, net if trained else None)


def record(name: str, arrays: Sequence[np.ndarray], net: Any = None) -> None:
    layer = paddle.jit.load(str(FOLDER / name))
    layer.eval()
    found = layer(*[paddle.to_tensor(a) for a in arrays])
    values = {f"i{n}": a for n, a in enumerate(arrays)}
    values |= {f"o{n}": x.numpy() for n, x in enumerate(paddle.utils.flatten(found))}
    if net is not None:
        net.train()
        total = 0
        for x in paddle.utils.flatten(net(*[paddle.to_tensor(a) for a in arrays])):
            total = total + paddle.mean(x * x)
        total.backward()
        values |= {f"g:{p.name}": p.grad.numpy() for p in net.parameters()}
    np.savez_compressed(FOLDER / f"{name}.npz", **values)


class LeNet(nn.Layer):
    """LeNet's layers with few channels."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2D(1, 2, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Conv2D(2, 4, 5), nn.ReLU(),
            nn.MaxPool2D(2, 2),
        )  # fmt: skip
        self.fc = nn.Sequential(nn.Linear(16, 12), nn.Linear(12, 10))

    def forward(self, x: Any) -> Any:
        return self.fc(paddle.flatten(self.features(x), 1))


class Block(nn.Layer):
    """A residual block, as in ResNet-18."""

    def __init__(self, channels: int, out: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2D(channels, out, 3, stride, 1, bias_attr=False)
        self.bn1, self.relu = nn.BatchNorm2D(out), nn.ReLU()
        self.conv2 = nn.Conv2D(out, out, 3, 1, 1, bias_attr=False)
        self.bn2 = nn.BatchNorm2D(out)
        shortcut = nn.Conv2D(channels, out, 1, stride, bias_attr=False)
        self.shortcut = nn.Sequential(shortcut, nn.BatchNorm2D(out))

    def forward(self, x: Any) -> Any:
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(y + self.shortcut(x))


class ResNet(nn.Layer):
    """Stem, two blocks and head of a ResNet-18 with few channels."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2D(3, 4, 7, 2, 3, bias_attr=False), nn.BatchNorm2D(4), nn.ReLU())
        self.pool, self.blocks = nn.MaxPool2D(3, 2, 1), nn.Sequential(Block(4, 4, 1), Block(4, 8, 2))
        self.mean, self.fc = nn.AdaptiveAvgPool2D(1), nn.Linear(8, 5)

    def forward(self, x: Any) -> Any:
        return self.fc(paddle.flatten(self.mean(self.blocks(self.pool(self.stem(x)))), 1))


class MobileNet(nn.Layer):
    """Blocks of a MobileNetV3: depthwise convolutions, squeeze and excitation, hard swish, epsilon 0.001."""

    def __init__(self) -> None:
        super().__init__()
        from paddle.vision.models.mobilenetv3 import InvertedResidual

        def norm(channels: int) -> Any:
            return nn.BatchNorm2D(channels, epsilon=0.001, momentum=0.99)

        self.stem = nn.Sequential(nn.Conv2D(3, 8, 3, 2, 1, bias_attr=False), norm(8), nn.Hardswish())
        parts = [(8, 3, 8, 8, True, "relu", 2), (8, 5, 16, 8, True, "hardswish", 1)]
        self.blocks = nn.Sequential(
            *[
                InvertedResidual(
                    in_channels=a, expanded_channels=c, out_channels=d, filter_size=b, stride=s, use_se=se,
                    activation_layer=nn.Hardswish if act == "hardswish" else nn.ReLU, norm_layer=norm,
                )
                for a, b, c, d, se, act, s in parts
            ]
        )  # fmt: skip
        self.mean = nn.AdaptiveAvgPool2D(1)
        self.fc = nn.Sequential(nn.Linear(8, 5), nn.Hardswish(), nn.Dropout(0.2))

    def forward(self, x: Any) -> Any:
        return self.fc(paddle.flatten(self.mean(self.blocks(self.stem(x))), 1))


class Recurrent(nn.Layer):
    def __init__(self, kind: Any, **options: Any) -> None:
        super().__init__()
        self.layers = kind(3, 4, **options)

    def forward(self, x: Any) -> Any:
        return self.layers(x)


class Branches(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        y = self.fc(x)
        if paddle.mean(x) > 0:
            z, w = y * 2, x
        else:
            z, w = y - 1, x + y
        if paddle.sum(z) > 100:
            z = z + 1
        return z, w


class Choices(nn.Layer):
    """A branch in a branch: results that only one of them computes."""

    def forward(self, x: Any, number: Any) -> Any:
        if number == 0:
            return x + 1
        elif number == 1:
            return x * 2
        else:
            return x - 3


class Loop(nn.Layer):
    """A loop with a branch in it, which also changes its input."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        i = paddle.zeros([1], "int64")
        while i < 5:
            x = paddle.tanh(self.fc(x))
            if paddle.mean(x) > 0:
                x = x - 1
            i += 1
        return x


class Grown(nn.Layer):
    """A list that grows in a loop."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        found = []
        i = paddle.zeros([1], "int64")
        while i < 3:
            x = paddle.tanh(self.fc(x))
            found.append(x)
            i += 1
        return paddle.stack(found)


class Shapes(nn.Layer):
    """Sizes and bounds that are values of the Program."""

    def forward(self, x: Any) -> Any:
        b, c, h, w = paddle.shape(x)
        rows = paddle.expand(paddle.arange(c).astype("float32"), [b, c])
        resized = nn.functional.interpolate(x, scale_factor=2, mode="bilinear")
        changed = x * 1
        changed[0] = 1.0
        changed[:, 1:3] = x[:, 0:2]
        return (
            paddle.reshape(x, [b, c, h * w]), paddle.zeros([b, 2]), rows, resized, x[:, 1:, ::2, -1],
            x[: b // 2], paddle.tile(x, [1, 1, 2, 1]), paddle.split(x, [1, -1], axis=1)[1], changed,
            paddle.sum(x > 0, dtype="int32"), x[b // 2 :, :c], paddle.split(x, [b, w - b], axis=3)[1],
        )  # fmt: skip


def quantized() -> None:
    """A LeNet that the quantization of 2.6.2 trained and converted."""
    from paddle.quantization import QAT, QuantConfig
    from paddle.quantization.quanters import FakeQuanterWithAbsMaxObserver

    paddle.seed(3)
    quanter = FakeQuanterWithAbsMaxObserver(moving_rate=0.9)
    config = QuantConfig(activation=quanter, weight=quanter)
    qat = QAT(config)
    net = LeNet()
    net.train()
    trained = qat.quantize(net)
    for _ in range(3):
        trained(paddle.to_tensor(normal(4, 1, 16, 16)))
    trained.eval()
    converted = qat.convert(trained)
    save("quantized", converted, [InputSpec([None, 1, 16, 16], name="image")], [normal(2, 1, 16, 16)])


def fake_quantized() -> None:
    """A static Program with simulated quantization, whose bias is added along axis 1."""
    from paddle.base import core
    from paddle.base.framework import IrGraph
    from paddle.static.quantization import QuantizationTransformPass

    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [None, 1, 8, 8])
        y = paddle.static.nn.fc(paddle.static.nn.conv2d(x, 2, 3, act="relu"), 3)
    executor, scope = paddle.static.Executor(), paddle.static.global_scope()
    executor.run(startup)
    graph = IrGraph(core.Graph(main.clone(for_test=True).desc), for_test=True)
    kind = {"activation_quantize_type": "moving_average_abs_max", "weight_quantize_type": "abs_max"}
    QuantizationTransformPass(scope=scope, place=paddle.CPUPlace(), **kind).apply(graph)
    program = graph.to_program()
    for variable in program.list_vars():
        found = scope.find_var(variable.name) if variable.persistable else None
        if found is not None and "scale" in variable.name and np.array(found.get_tensor()).size == 1:
            found.get_tensor().set(np.full([1], 2.5, "float32"), paddle.CPUPlace())
    x, y = program.global_block().var("x"), program.global_block().var(y.name)
    paddle.static.save_inference_model(str(FOLDER / "fake_quantized"), [x], [y], executor, program=program)
    record_static("fake_quantized", executor, [normal(2, 1, 8, 8)])
    paddle.disable_static()


def older() -> None:
    """Operators of versions before 2.0, which public functions do not make any more."""
    paddle.enable_static()
    images, rows = normal(2, 6, 4, 4), normal(3, 4)
    given = {
        "images": images, "rows": rows, "other": normal(2, 4), "columns": normal(6, 4),
        "weights": normal(96, 3),
        "bias": normal(3), "ids": np.array([[1], [2]]), "scale": normal(6), "shift": normal(6),
    }  # fmt: skip
    main = paddle.static.Program()
    outputs = []
    with paddle.static.program_guard(main):
        block = main.global_block()
        inputs = [paddle.static.data(n, list(a.shape), str(a.dtype)) for n, a in given.items()]
        for type, slots, attrs in (
            ("lrn", {"X": "images"}, {"n": 5, "k": 1.0, "alpha": 0.1, "beta": 0.75, "data_format": "NCHW"}),
            ("expand", {"X": "images"}, {"expand_times": [2, 1, 1, 2]}),
            (
                "matmul",
                {"X": "rows", "Y": "other"},
                {"transpose_X": False, "transpose_Y": True, "alpha": 0.5},
            ),
            ("norm", {"X": "rows"}, {"axis": 1, "epsilon": 1e-10}),
            ("top_k", {"X": "rows"}, {"k": 2}),
            ("lookup_table", {"Ids": "ids", "W": "columns"}, {"padding_idx": -1}),
            ("flatten2", {"X": "images"}, {"axis": 2}),
            ("reshape", {"X": "images"}, {"shape": [0, -1]}),
            ("transpose", {"X": "images"}, {"axis": [0, 2, 3, 1]}),
            ("bilinear_interp", {"X": "images"}, {"out_h": 7, "out_w": 5}),
            ("affine_channel", {"X": "images", "Scale": "scale", "Bias": "shift"}, {"data_layout": "NCHW"}),
            ("maxout", {"X": "images"}, {"groups": 2, "axis": 1}),
            ("shuffle_channel", {"X": "images"}, {"group": 2}),
            ("mean", {"X": "images"}, {}),
            ("elementwise_add", {"X": "images", "Y": "columns"}, {"axis": 1}),
            ("fc", {"Input": "images", "W": "weights", "Bias": "bias"}, {"activation_type": "relu"}),
            ("crop_tensor", {"X": "images"}, {"shape": [2, 3, -1, 2], "offsets": [0, 1, 1, 2]}),
            ("reverse", {"X": "images"}, {"axis": [1, 2]}),
        ):
            names = {"lrn": ["Out", "MidOut"], "norm": ["Out", "Norm"], "top_k": ["Out", "Indices"]}
            names["flatten2"] = ["Out", "XShape"]
            made = {
                s: block.create_var(name=f"{type}.{s}", dtype="float32") for s in names.get(type, ["Out"])
            }
            found = {slot: [block.var(name)] for slot, name in slots.items()}
            block.append_op(type=type, inputs=found, outputs={s: [v] for s, v in made.items()}, attrs=attrs)
            outputs.append(made["Out"])
    executor = paddle.static.Executor()
    paddle.static.save_inference_model(str(FOLDER / "older"), inputs, outputs, executor, program=main)
    record_static("older", executor, list(given.values()))
    paddle.disable_static()


class Functions(nn.Layer):
    """Functions that are several operators here, or have their own rows."""

    def forward(self, x: Any, y: Any, index: Any) -> Any:
        order = paddle.argsort(x, 1)
        return (
            paddle.einsum("bij,bkj->bik", x, y), paddle.einsum("...j,kj->...k", x, y[0]), paddle.eye(3, 4),
            paddle.kron(x[0], y[0]), paddle.linspace(0, 1, 5), paddle.unbind(x, 1)[1], paddle.trace(x[0]),
            paddle.logspace(0, 1, 4), paddle.linalg.matrix_power(x[0, :, :3], 3), paddle.numel(x),
            paddle.put_along_axis(x, order[:, :1], y[:, :1], 1), paddle.take_along_axis(x, order, 1),
            nn.functional.label_smooth(x), paddle.expand_as(x[:1], x), paddle.meshgrid(x[0, 0], y[0, 0])[0],
            paddle.index_select(x, index, 1), paddle.topk(x, 2, axis=1)[1], paddle.cumsum(x, 1),
            x[::-1, 1:, -2],
            paddle.where(x > 0, x, y), nn.functional.one_hot(index, 4), paddle.std(x, 1), paddle.round(x),
            nn.functional.smooth_l1_loss(x, y), paddle.allclose(x, y).astype("float32"), paddle.mode(x)[0],
            paddle.repeat_interleave(x, index, 1), paddle.unique(index), nn.functional.gelu(x, True),
            nn.functional.pad(x, [1, 2], mode="reflect", data_format="NCL"), paddle.diag(x[0, 0]), x % 0.3,
        )  # fmt: skip


def without_names(path: Path) -> None:
    """Remove from a Program of Paddle 3 what only error messages show."""
    tree = json.loads(path.read_bytes())
    for operator in tree["program"]["regions"][0]["blocks"][0]["ops"]:
        if operator["#"] != "p":
            operator["A"] = [a for a in operator["A"] if a["N"] != "struct_name"]
    path.write_text(json.dumps(tree, separators=(",", ":")))


def record_static(name: str, executor: Any, arrays: Sequence[np.ndarray]) -> None:
    program, feeds, fetches = paddle.static.load_inference_model(str(FOLDER / name), executor)
    found = executor.run(program, dict(zip(feeds, arrays, strict=True)), fetches)
    values = {f"i{n}": a for n, a in enumerate(arrays)} | {f"o{n}": a for n, a in enumerate(found)}
    np.savez_compressed(FOLDER / f"{name}.npz", **values)


def static() -> None:
    """A static Program, whose weights need no information file."""
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [None, 3])
        second = paddle.static.data("second", [None, 3])
        y = paddle.static.nn.fc(x, 2, activation="relu") + paddle.static.nn.fc(second, 2)
    executor = paddle.static.Executor()
    executor.run(startup)
    paddle.static.save_inference_model(str(FOLDER / "static"), [x, second], [y, x], executor, program=main)
    record_static("static", executor, [normal(2, 3), normal(2, 3)])
    paddle.disable_static()


def main() -> None:
    paddle.seed(1)
    if paddle.__version__.startswith("3."):
        save("lenet_3", LeNet(), [InputSpec([None, 1, 16, 16], name="image")], [normal(2, 1, 16, 16)])
        save("mobilenet_3", MobileNet(), [InputSpec([None, 3, 16, 16])], [normal(2, 3, 16, 16)])
        for path in FOLDER.glob("*_3.json"):
            without_names(path)
        return
    FOLDER.mkdir(exist_ok=True)
    image, sequence, rows = InputSpec([None, 1, 16, 16], name="image"), InputSpec([None, None, 3]), [None, 4]
    save("lenet", LeNet(), [image], [normal(2, 1, 16, 16)], trained=True)
    save("resnet", ResNet(), [InputSpec([None, 3, 16, 16])], [normal(2, 3, 16, 16)])
    save("mobilenet", MobileNet(), [InputSpec([None, 3, 16, 16])], [normal(2, 3, 16, 16)])
    save("lstm", Recurrent(nn.LSTM, num_layers=2), [sequence], [normal(2, 5, 3)], trained=True)
    save("gru", Recurrent(nn.GRU, direction="bidirect"), [sequence], [normal(2, 5, 3)])
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 8), 1)
    save("encoder", encoder, [InputSpec([None, None, 8])], [normal(2, 4, 8)])
    save("branches", Branches(), [InputSpec(rows)], [np.abs(normal(3, 4))])
    save("other_branch", Branches(), [InputSpec(rows)], [-np.abs(normal(3, 4))])
    number = InputSpec([1], "int64")
    save("choices", Choices(), [InputSpec(rows), number], [normal(3, 4), np.array([1])])
    save("loop", Loop(), [InputSpec(rows)], [normal(3, 4)])
    save("grown", Grown(), [InputSpec(rows)], [normal(3, 4)])
    save("shapes", Shapes(), [InputSpec([None, 3, None, None])], [normal(2, 3, 4, 6)])
    specs = [InputSpec([2, 3, 4]), InputSpec([2, 3, 4]), InputSpec([3], "int64")]
    save("functions", Functions(), specs, [normal(2, 3, 4), normal(2, 3, 4), np.array([2, 0, 1])])
    older()
    static()
    quantized()
    fake_quantized()
    for path in FOLDER.glob("*.pdmodel"):
        without_call_stacks(path)


def without_call_stacks(path: Path) -> None:
    """Remove what only error messages show, and paths of this machine, from a Program; from all but one of
    them also what stands at every operator, to keep them small."""
    from paddle.base.proto import framework_pb2 as proto

    dropped = {"op_callstack"}
    if path.stem != "lenet":
        dropped |= {"op_device", "op_namescope", "op_role", "op_role_var", "with_quant_attr"}
    program = proto.ProgramDesc.FromString(path.read_bytes())
    program.ClearField("op_version_map")
    for block in program.blocks:
        for operator in block.ops:
            kept = [a for a in operator.attrs if a.name not in dropped]
            del operator.attrs[:]
            operator.attrs.extend(kept)
    path.write_bytes(program.SerializeToString())


if __name__ == "__main__":
    sys.exit(main())
