"""The numbers of a seed, bit for bit: hashes of draws, of parameters, and the losses of small trainings.

``h`` gives a hash of each tensor's bytes, and the generator's next number: so how much was drawn counts too.
"""

_H = """import hashlib
def h(*drawn):
    hashes = [hashlib.sha1(x.numpy().tobytes()).hexdigest()[:16] for x in drawn]
    return [*hashes, round(paddle.rand([1]).item(), 7)]
paddle.seed(77)
"""
_SIZES = "(1, 2, 311, 312, 313, 1000, 100000)"


def drawn(code: str) -> str:
    return f"{_H}{code}"


def _sized(call: str) -> str:
    """The draws of many sizes, one after the other."""
    return drawn(f"h(*[{call} for n in {_SIZES}])")


_X = "x = (t([30, 40]) + 1) / 2"
_WEIGHT = (
    "h(*[paddle.create_parameter(s, {dtype!r}, default_initializer=nn.initializer.{name}) for s in {shapes}])"
)
_SHAPES = "([64, 30], [16, 3, 5, 5], [7])"

DRAWS = {
    "rand": "paddle.rand([n])",
    "rand float64": "paddle.rand([n], 'float64')",
    "uniform": "paddle.uniform([n], min=-0.3, max=1.7)",
    "uniform float64": "paddle.uniform([n], 'float64', min=-0.3, max=1.7)",
    "uniform seed": "paddle.uniform([n], min=-0.3, max=1.7, seed=9)",
    "randn": "paddle.randn([n])",
    "randn float64": "paddle.randn([n], 'float64')",
    "normal": "paddle.normal(0.3, 1.7, [n])",
    "randint": "paddle.randint(-3, 1000, [n])",
    "randint int32": "paddle.randint(0, 2**31 - 1, [n], 'int32')",
    "randperm": "paddle.randperm(n)",
    "randperm int32": "paddle.randperm(n, 'int32')",
}

LIKE = {
    "bernoulli": "paddle.bernoulli(x)",
    "bernoulli float64": "paddle.bernoulli(x.astype('float64'))",
    "exponential_": "x.exponential_(1.7)",
    "exponential_ float64": "x.astype('float64').exponential_(1.7)",
    "uniform_": "x.uniform_(-0.3, 1.7)",
    "normal_": "x.normal_(0.3, 1.7)",
    "normal_ float64": "x.astype('float64').normal_(0.3, 1.7)",
    "normal tensor": "paddle.normal(x, x)",
    "randint_like": "paddle.randint_like(x, 0, 9)",
    "multinomial": "paddle.multinomial(x, 17, True)",
    "multinomial row": "paddle.multinomial(x[0], 1)",
    "multinomial float64": "paddle.multinomial(x.astype('float64'), 300, True)",
    "multinomial without replacement": "paddle.multinomial(x, 17)",
    "poisson": "paddle.poisson(x * 4)",
    "poisson large": "paddle.poisson(x * 60)",
    "dropout": "F.dropout(x, 0.3)",
    "dropout float64": "F.dropout(x.astype('float64'), 0.3)",
    "dropout all": "F.dropout(x, 1.0)",
    "dropout downscale": "F.dropout(x, 0.3, mode='downscale_in_infer')",
    "dropout downscale test": "F.dropout(x, 0.3, training=False, mode='downscale_in_infer')",
    "dropout axis": "F.dropout(x, 0.3, axis=0)",
    "dropout axis float64": "F.dropout(x.astype('float64'), 0.3, axis=[0])",
    "dropout2d": "F.dropout2d(x.reshape([3, 20, 4, 5]), 0.3)",
    "dropout3d": "F.dropout3d(x.reshape([3, 20, 4, 5, 1]), 0.3)",
    "alpha_dropout": "F.alpha_dropout(x, 0.3)",
    "rrelu": "F.rrelu(x - 0.5)",
}

INITIALIZERS = [
    "Normal(0.1, 0.3)", "TruncatedNormal(0.1, 0.3)", "Uniform(-0.7, 0.2)", "XavierNormal()",
    "XavierUniform()",
    "XavierUniform(fan_in=10, fan_out=20)", "KaimingNormal()", "KaimingUniform()",
    "KaimingUniform(negative_slope=0.2, nonlinearity='leaky_relu')"
]

LAYERS = {
    "Linear": "nn.Linear(30, 20)",
    "Conv2D": "nn.Conv2D(3, 8, 5)",
    "Conv2DTranspose": "nn.Conv2DTranspose(3, 8, 5)",
    "Embedding": "nn.Embedding(50, 16)",
    "LSTM": "nn.LSTM(10, 12, num_layers=2, direction='bidirect')",
    "GRU": "nn.GRU(10, 12)",
    "SimpleRNN": "nn.SimpleRNN(10, 12)",
    "LSTMCell": "nn.LSTMCell(10, 12)",
    "MultiHeadAttention": "nn.MultiHeadAttention(16, 4)",
    "Transformer": "nn.Transformer(16, 2, 2, 2, 32)",
    "Bilinear": "nn.Bilinear(3, 4, 5)",
    "PReLU": "nn.PReLU(4)",
    "LeNet": "paddle.vision.models.LeNet()",
    "mobilenet_v1": "paddle.vision.models.mobilenet_v1(scale=0.25, num_classes=10)",
}

_TRAINED = """
np.random.seed(5)
paddle.seed(5)
class Data(paddle.io.Dataset):
    def __len__(self):
        return 40
    def __getitem__(self, n):
        return X[n], Y[n]
X = np.sin(np.arange(40 * 12).reshape(40, 12)).astype('float32')
Y = (np.arange(40) % 3).astype('int64')
losses = []
"""

TRAININGS = {
    "dropout and shuffle": """net = nn.Sequential(
    nn.Linear(12, 24), nn.ReLU(), nn.Dropout(0.4), nn.Linear(24, 3))
best = paddle.optimizer.Adam(0.01, parameters=net.parameters())
for epoch in range(3):
    for x, y in paddle.io.DataLoader(Data(), batch_size=8, shuffle=True):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        best.step()
        best.clear_grad()
        losses.append(loss.item())""",
    "convolution": """net = nn.Sequential(
    nn.Conv2D(1, 4, 3, padding=1), nn.BatchNorm2D(4), nn.ReLU(), nn.Dropout2D(0.2),
    nn.Flatten(), nn.Linear(48, 3))
best = paddle.optimizer.Momentum(0.05, parameters=net.parameters())
for x, y in paddle.io.DataLoader(Data(), batch_size=8, shuffle=True, drop_last=True):
    loss = F.cross_entropy(net(x.reshape([-1, 1, 3, 4])), y)
    loss.backward()
    best.step()
    best.clear_grad()
    losses.append(loss.item())""",
    "lstm": """net, head = nn.LSTM(4, 8, num_layers=2, dropout=0.3), nn.Linear(8, 3)
best = paddle.optimizer.SGD(0.1, parameters=[*net.parameters(), *head.parameters()])
train, rest = paddle.io.random_split(Data(), [30, 10])
for x, y in paddle.io.DataLoader(train, batch_size=10, shuffle=True):
    loss = F.cross_entropy(head(net(x.reshape([-1, 3, 4]))[0][:, -1]), y)
    loss.backward()
    best.step()
    best.clear_grad()
    losses.append(loss.item())""",
    "transformer": """net = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 16), 2)
head = nn.Linear(4, 3)
best = paddle.optimizer.AdamW(0.01, parameters=[*net.parameters(), *head.parameters()])
for x, y in paddle.io.DataLoader(Data(), batch_size=20, shuffle=True):
    loss = F.cross_entropy(head(net(x.reshape([-1, 3, 4])).mean(1)), y)
    loss.backward()
    best.step()
    best.clear_grad()
    losses.append(loss.item())""",
    "Model.fit": """class Losses(paddle.callbacks.Callback):
    def on_train_batch_end(self, step, logs=None):
        losses.append(float(np.asarray(logs['loss']).reshape(-1)[0]))
net = paddle.Model(nn.Sequential(nn.Linear(12, 16), nn.Tanh(), nn.Dropout(0.2), nn.Linear(16, 3)))
net.prepare(paddle.optimizer.Adam(0.01, parameters=net.parameters()), nn.CrossEntropyLoss())
net.fit(Data(), epochs=2, batch_size=8, verbose=0, callbacks=[Losses()])""",
    "to_static": """net = nn.Sequential(nn.Linear(12, 24), nn.Dropout(0.4), nn.Linear(24, 3))
net = paddle.jit.to_static(net)
best = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for x, y in paddle.io.DataLoader(Data(), batch_size=8, shuffle=True):
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    best.step()
    best.clear_grad()
    losses.append(loss.item())""",
}

_STATIC = """static = paddle.static
paddle.enable_static()
main, start = static.Program(), static.Program()
{before}
try:
    with static.program_guard(main, start):
        x = static.data('x', [4, 6])
        made = [static.nn.fc(x, 5), F.dropout(x, 0.5), paddle.rand([3, 2]), F.dropout(x * 2, 0.3),
                paddle.randn([7]), paddle.uniform([4], seed=3), F.dropout2d(x.reshape([2, 2, 2, 3]), 0.4)]
        weights = [paddle.create_parameter([6, 4], 'float32', default_initializer=i) for i in (
            nn.initializer.Normal(), nn.initializer.TruncatedNormal(), nn.initializer.KaimingUniform())]
    runs = static.Executor()
    runs.run(start)
    fed = {{'x': np.sin(np.arange(24)).reshape(4, 6).astype('float32')}}
    results = [runs.run(main, feed=fed, fetch_list=made[1:] + weights) for _ in range(2)]
finally:
    paddle.disable_static()
[hashlib.sha1(a.tobytes()).hexdigest()[:16] for run in results for a in run]"""

CALLS: dict[str, str] = {
    **{name: _sized(code) for name, code in DRAWS.items()},
    "randperm sizes": drawn("h(*[paddle.randperm(n) for n in range(12)])"),
    "first numbers": drawn(
        "[paddle.rand([3]), paddle.randn([4]), paddle.randint(0, 10, [5]), paddle.randperm(6)]"
    ),
    **{f"like {name}": drawn(f"{_X}\nh({code})") for name, code in LIKE.items()},
    "dropout gradient": drawn(f"{_X}\ngrad(lambda x: F.dropout(x, 0.3), x)"),
    "interleaved": drawn(
        "h(*[f(n) for n in (3, 700, 1, 50) for f in ("
        "lambda n: paddle.rand([n]), lambda n: paddle.randn([n]), "
        "lambda n: paddle.randint(0, 7, [n]), lambda n: paddle.randperm(n), lambda n: F.dropout(t([n])))])"
    ),
    **{
        f"{name} {dtype}": drawn(_WEIGHT.format(name=name, dtype=dtype, shapes=_SHAPES))
        for name in INITIALIZERS
        for dtype in ("float32", "float64")
    },
    "Orthogonal": drawn(
        "[paddle.create_parameter(s, 'float64', default_initializer=nn.initializer.Orthogonal(2.0)).detach()"
        " for s in ([4, 6], [6, 4], [3, 2, 2])]"
    ),
    **{f"layer {name}": drawn(f"h(*({code}).state_dict().values())") for name, code in LAYERS.items()},
    "seed of the Programs": drawn(
        "main, start = paddle.static.default_main_program(), paddle.static.default_startup_program()\n"
        "start.random_seed = 11\ntry:\n    made = [nn.Linear(3, 4).weight, nn.Linear(3, 4).weight]\n"
        "    main.random_seed = 12\n    made += [nn.Linear(3, 4).weight, nn.Linear(3, 4).weight]\n"
        "    made += [F.dropout(t([50])), F.dropout(t([50, 1]), axis=0), paddle.rand([3])]\n"
        "finally:\n    main.random_seed = start.random_seed = 0\nh(*made)"
    ),
    "states": drawn(
        "state = paddle.get_rng_state()\na = paddle.randn([500])\nb = paddle.rand([20])\n"
        "paddle.set_rng_state(state)\n"
        "[len(state), state[0].current_seed(), bool((a == paddle.randn([500])).all()), "
        "bool((b == paddle.rand([20])).all()), len(paddle.get_cuda_rng_state())]"
    ),
    "generator": (
        "g = paddle.seed(5)\n[g.initial_seed(), g.random() % 2**32, g.random() % 2**32, "
        "g.manual_seed(9).initial_seed(), paddle.rand([2])]"
    ),
    **{
        f"seed {value}": f"paddle.seed({value})\npaddle.rand([3])"
        for value in ("0", "1", "2**31", "2**32", "2**40 + 3", "2.7", "'8'", "True")
    },
    "samplers": drawn(
        "np.random.seed(3)\nio, w = paddle.io, np.array([0.2, 0.3, 0.5])\n"
        "[list(io.RandomSampler(list(range(9)))), list(io.RandomSampler(list(range(9)), True, 5)), "
        "[int(n) for n in io.SubsetRandomSampler([5, 6, 7, 8])], "
        "list(io.WeightedRandomSampler(w, 6)), list(io.WeightedRandomSampler(w, 2, False)), "
        "list(io.BatchSampler(list(range(7)), shuffle=True, batch_size=3)), "
        "[list(p.indices) for p in io.random_split(list(range(10)), [3, 7])], "
        "round(float(np.random.rand()), 9)]"
    ),
    **{f"training {name}": f"{_TRAINED}{code}\nlosses" for name, code in TRAININGS.items()},
    "static": drawn(_STATIC.format(before="")),
    "static random_seed": drawn(_STATIC.format(before="main.random_seed, start.random_seed = 12, 13"))
}
