"""Layers of paddle.nn.quant: names and values of their state, what they print, give and learn."""

_BEGIN = """\
from importlib import import_module
Q = import_module(f'{paddle.__name__}.nn.quant.quant_layers')
L = import_module(f'{paddle.__name__}.nn.quant.functional_layers')
lsq = import_module(f'{paddle.__name__}.nn.quant.lsq')
def state(layer):
    return {k: (p.name, p.numpy()) for k, p in layer.state_dict().items()}
def learn(layer, *given, steps=2):
    # results in training, gradients after the last step, the state, and the result of evaluation
    given = [x.detach() for x in given]
    for x in given:
        x.stop_gradient = False
    outs = []
    for _ in range(steps):
        outs.append(layer(*given))
    weighted(outs[-1]).backward()
    grads = [x.grad.numpy() for x in given]
    more = {n: p.grad.numpy() for n, p in layer.named_parameters() if n in ('weight', 'bias')}
    after = state(layer)
    layer.eval()
    return outs, grads, more, after, layer(*given), state(layer)
"""
_STATIC = """\
def program(make, *shape, test=False):
    paddle.enable_static()
    try:
        main, start = paddle.static.Program(), paddle.static.Program()
        with paddle.utils.unique_name.guard(), paddle.static.program_guard(main, start):
            layer = make()
            if test:
                layer.eval()
            layer(paddle.static.data('x', shape))
        return str(main), str(start), str(main.clone(for_test=True))
    finally:
        paddle.disable_static()
"""
_TYPES = ("abs_max", "moving_average_abs_max", "channel_wise_abs_max", "lsq_weight",
          "channel_wise_lsq_weight", "lsq_act")
_LAYERS = {
    "Conv2D": ("nn.Conv2D(2, 3, 3)", "t([2, 2, 5, 5])"),
    "Conv2D/groups": ("nn.Conv2D(2, 4, 3, stride=2, padding=1, groups=2)", "t([1, 2, 5, 5])"),
    "Conv2D/reflect": ("nn.Conv2D(2, 3, 3, padding=1, padding_mode='reflect')", "t([1, 2, 4, 4])"),
    "Conv2D/no bias": ("nn.Conv2D(2, 3, 1, bias_attr=False)", "t([1, 2, 4, 4])"),
    "Conv2DTranspose": ("nn.Conv2DTranspose(2, 3, 3, stride=2, output_padding=1)", "t([1, 2, 3, 3])"),
    "Linear": ("nn.Linear(4, 3)", "t([2, 4])"),
    "Linear/no bias": ("nn.Linear(4, 3, bias_attr=False)", "t([2, 4])"),
}


def _quantized() -> dict[str, str]:
    calls = {}
    for case, (layer, x) in _LAYERS.items():
        name, _, kind = case.partition("/")
        made = f"q = Q.Quantized{name}(formula({layer}){{more}})\n"
        per_channel = (
            ", weight_quantize_type='channel_wise_abs_max', activation_quantize_type='moving_average_abs_max'"
        )
        few = ", weight_bits=4, activation_bits=6, moving_rate=0.5" + per_channel
        for what, more in (("", ""), ("per channel", per_channel), ("few bits", few)):
            calls[f"Quantized{name}/{', '.join(w for w in (kind, what) if w) or 'plain'}"] = (
                made.format(more=more) + f"str(q), state(q), learn(q, {x})"
            )
    return calls


CALLS: dict[str, str] = {
    **{
        f"_get_fake_quant_type/{kind}": (
            f"made = [Q._get_fake_quant_type('{kind}', name=n, channel_num=3, quant_on_weight=True) "
            "for n in (None, 'w')]\n[(str(q), q.full_name(), state(q)) for q in made]"
        )
        for kind in _TYPES
    },
    "_get_fake_quant_type/raises for another": "Q._get_fake_quant_type('foo')",
    "_get_fake_quant_type/raises without channels": (
        "Q._get_fake_quant_type('channel_wise_abs_max', quant_on_weight=True)"
    ),
    "FakeQuantAbsMax/weight": "learn(Q.FakeQuantAbsMax('w', quant_on_weight=True), t([3, 4]))",
    "FakeQuantAbsMax/input": "learn(Q.FakeQuantAbsMax(quant_bits=4), t([3, 4]))",
    "FakeQuantMovingAverageAbsMax": "learn(Q.FakeQuantMovingAverageAbsMax(quant_bits=5), t([3, 4]), steps=3)",
    "FakeQuantChannelWiseAbsMax/axis 0": (
        "learn(Q.FakeQuantChannelWiseAbsMax(channel_num=3, quant_on_weight=True), t([3, 4]))"
    ),
    "FakeQuantChannelWiseAbsMax/axis 1": (
        "learn(Q.FakeQuantChannelWiseAbsMax(channel_num=4, quant_axis=1, quant_on_weight=True), t([3, 4]))"
    ),
    "FakeQuantChannelWiseAbsMax/raises for inputs": "Q.FakeQuantChannelWiseAbsMax(channel_num=3)",
    "MovingAverageAbsMaxScale": "learn(Q.MovingAverageAbsMaxScale('x', 0.8), t([3, 4]), steps=3)",
    "QuantStub": "q = paddle.nn.quant.QuantStub()\nstr(q), state(q), q is not None",
    **_quantized(),
    "QuantizedMatmul": (
        "q = Q.QuantizedMatmul(activation_quantize_type='moving_average_abs_max')\n"
        "str(q), state(q), learn(q, t([2, 3]), t([3, 4], seed=1))"
    ),
    "QuantizedMatmul/transposed": (
        "q = Q.QuantizedMatmul(activation_bits=4)\n"
        "q(t([3, 2]), t([4, 3], seed=1), transpose_x=True, transpose_y=True)"
    ),
    "QuantizedLinear/layers of the user": (
        "class Half(nn.Layer):\n    def forward(self, x):\n        return x * 0.5\n"
        "q = Q.QuantizedLinear(formula(nn.Linear(4, 3)), weight_pre_layer=Half, act_pre_layer=Half, "
        "weight_quant_layer=Half, act_quant_layer=Half)\nstr(q), state(q), learn(q, t([2, 4]))"
    ),
    "MAOutputScaleLayer": (
        "q = Q.MAOutputScaleLayer(formula(nn.Linear(4, 3)))\nstr(q), state(q), learn(q, t([2, 4]))"
    ),
    "MAOutputScaleLayer/several results": (
        "q = Q.MAOutputScaleLayer(nn.MaxPool2D(2, return_mask=True))\nq(t([1, 1, 4, 4])), state(q)"
    ),
    "FakeQuantMAOutputScaleLayer": (
        "q = Q.FakeQuantMAOutputScaleLayer(formula(nn.Linear(4, 3)), activation_bits=4)\n"
        "str(q), state(q), learn(q, t([2, 4]))"
    ),
    "FakeQuantMAOutputScaleLayer/several results": (
        "q = Q.FakeQuantMAOutputScaleLayer(nn.MaxPool2D(2, return_mask=True), name='p')\n"
        "q(t([1, 1, 4, 4])), state(q)"
    ),
    "lsq/activation, symmetric": (
        "q = lsq.FakeQuantActLSQPlus(4, symmetric=True)\n"
        "learn(q, t([3, 4])), q.s.grad.numpy(), (q.Qn, q.Qp), q.g"
    ),
    "lsq/activation, positive": (
        "q = lsq.FakeQuantActLSQPlus(4, all_postive=True, symmetric=True, batch_init=1)\n"
        "learn(q, pos([3, 4])), q.s.grad.numpy(), (q.Qn, q.Qp)"
    ),
    "lsq/activation, offset": (
        "q = lsq.FakeQuantActLSQPlus(4, batch_init=1)\n"
        "learn(q, t([3, 4])), q.s.grad.numpy(), q.beta.grad.numpy()"
    ),
    "lsq/activation, offset that follows": (
        "q = lsq.FakeQuantActLSQPlus(4)\nlearn(q, t([3, 4])), q.s.grad.numpy(), q.beta.grad.numpy()"
    ),
    "lsq/weight, channels": (
        "q = lsq.FakeQuantWeightLSQPlus(4, per_channel=True, channel_num=3, batch_init=1)\n"
        "learn(q, t([3, 2, 2, 2])), q.s.grad.numpy()"
    ),
    "lsq/weight, channels that follow": (
        "q = lsq.FakeQuantWeightLSQPlus(4, per_channel=True, channel_num=3)\n"
        "learn(q, t([3, 2, 2, 2])), q.s.grad.numpy()"
    ),
    "lsq/weight, channels of a linear layer": (
        "q = lsq.FakeQuantWeightLSQPlus(4, False, True, 1, 3, quant_linear=True)\n"
        "learn(q, t([4, 3])), q.s.grad.numpy()"
    ),
    "functional layers": (
        "[L.add()(t([3]), t([3], seed=1)), L.subtract()(t([3]), t([3], seed=1)), "
        "L.multiply()(t([3]), t([3], seed=1)), L.divide()(t([3]), pos([3], seed=1)), "
        "L.reshape()(t([2, 3]), [3, 2]), L.transpose()(t([2, 3]), [1, 0]), L.concat()([t([2]), t([3])], 0), "
        "L.flatten()(t([2, 3, 2]), 1), L.matmul()(t([2, 3]), t([2, 3], seed=1), transpose_y=True)]"
    ),
    "functional layers/text": (
        "[str(c()) for c in (L.add, L.subtract, L.multiply, L.divide, L.reshape, L.transpose, L.concat, "
        "L.flatten, L.matmul)] + [issubclass(paddle.nn.quant.add, paddle.nn.quant.FloatFunctionalLayer)]"
    ),
}
CALLS = {name: _BEGIN + code for name, code in CALLS.items()}
for _kind, _make in {
    "FakeQuantMovingAverageAbsMax": "lambda: Q.FakeQuantMovingAverageAbsMax('a')",
    "FakeQuantAbsMax": "lambda: Q.FakeQuantAbsMax('a', quant_on_weight=True)",
    "MovingAverageAbsMaxScale": "lambda: Q.MovingAverageAbsMaxScale('a')",
    "QuantizedLinear": (
        "lambda: Q.QuantizedLinear(nn.Linear(4, 3), weight_quantize_type='channel_wise_abs_max', "
        "activation_quantize_type='moving_average_abs_max')"
    ),
}.items():
    for _test in (False, True):
        CALLS[f"{_kind}/text{' of a test' * _test}"] = (
            f"{_BEGIN}{_STATIC}program({_make}, 5, 4, test={_test})"
        )
