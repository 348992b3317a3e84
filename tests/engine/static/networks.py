"""Networks as code, built by Paddle when their texts are recorded and by the engine when they are compared.

It runs under both interpreters, and imports neither.
"""

from __future__ import annotations

from typing import Any

# Statements; ``paddle``, ``static``, ``nn``, ``F``, ``data`` and ``np`` are there.
NETWORKS: dict[str, str] = {
    "fc_add": """
x = data('x', [None, 10])
y = data('y', [None, 3])
paddle.add(static.nn.fc(x, 3), y)
""",
    "lenet": """
image = data('image', [None, 1, 28, 28])
label = data('label', [None, 1], 'int64')
loss = F.cross_entropy(paddle.vision.models.LeNet()(image), label)
""",
    "mlp": """
x = data('x', [None, 784])
hidden = nn.ReLU()(nn.Linear(784, 100)(x))
out = nn.Softmax()(nn.Linear(100, 10, bias_attr=False)(hidden))
loss = paddle.mean(F.square_error_cost(out, data('y', [None, 10])))
""",
    "fc_layers": """
x = data('x', [None, 4, 6])
a = static.nn.fc(x, 5, num_flatten_dims=2, activation='relu')
b = static.nn.fc(x, 3, activation='tanh', bias_attr=False)
half = paddle.ParamAttr(initializer=nn.initializer.Constant(0.5))
c = static.nn.fc([b, static.nn.fc(a, 2)], 3, weight_attr=half)
""",
    "batch_norm": """
x = data('x', [None, 3, 8, 8])
y = nn.BatchNorm2D(3)(x)
z = static.nn.batch_norm(y, act='relu')
w = static.nn.batch_norm(z, is_test=True, momentum=0.5, moving_mean_name='running_mean')
""",
    "dropout": """
x = data('x', [None, 8])
y = F.dropout(x, 0.3)
z = nn.Dropout(0.5)(y)
w = F.dropout(z, 0.5, training=False)
v = F.dropout(w, 0.5, mode='downscale_in_infer')
""",
    "embedding": """
ids = data('ids', [None, 7], 'int64')
a = nn.Embedding(10, 4)(ids)
b = static.nn.embedding(ids, [12, 5])
c = nn.Embedding(10, 4, padding_idx=2)(ids)
""",
    "shapes": """
x = data('x', [None, 4, 6])
a = paddle.reshape(x, [-1, 24])
b = x.reshape([0, 8, 3])
c = paddle.transpose(x, [0, 2, 1])
d = paddle.concat([x, x], axis=1)
e, f = paddle.split(x, 2, axis=1)
g = paddle.split(x, [1, 3], axis=1)
h = paddle.stack([x, x])
i = paddle.unsqueeze(x, [0, 2])
j = paddle.squeeze(i, [0])
k = paddle.flatten(x, 1)
l = paddle.cast(x, 'int64')
m = x.astype('float64')
n = paddle.expand(data('row', [1, 3]), [5, 3])
o = paddle.tile(x, [1, 2, 1])
""",
    "slices": """
x = data('x', [None, 4, 6])
a = x[0]
b = x[:, 1:3]
c = x[:, :, -1]
d = x[:, 1:, 2:4]
e = x[:, 0, 1]
""",
    "reductions": """
x = data('x', [None, 4, 6])
a = paddle.sum(x)
b = paddle.sum(x, axis=1, keepdim=True)
c = paddle.mean(x, axis=[0, 2])
d = paddle.max(x, axis=-1)
e = paddle.min(x)
f = paddle.prod(x, axis=1)
g = paddle.all(x > 0)
h = paddle.any(x > 0.5, axis=1)
i = paddle.argmax(x, axis=1)
j = paddle.argmin(x)
k, l = paddle.topk(x, 2)
m = x.sum()
n = x.mean(axis=0)
""",
    "arithmetic": """
x = data('x', [None, 4])
y = data('y', [None, 4])
a = x + y
b = x - y * x / y
c = 2 * x + 1 - x / 4
d = 1 - x
e = -x
f = x ** 2
g = 2 / data('z', [3])
h = x > y
i = x <= 0.5
j = paddle.multiply(x, y)
k = paddle.maximum(x, paddle.minimum(x, y))
l = paddle.add_n([x, y])
m = paddle.scale(x, 2.0, 1.0)
n = paddle.clip(x, -1, 1)
o = paddle.pow(x, 3.0)
p = paddle.equal(x, y)
q = paddle.logical_and(h, i)
r = paddle.matmul(x, y, transpose_y=True)
s = x @ y.transpose([1, 0])
""",
    "trained_arithmetic": """
w = static.create_parameter([4], 'float32', name='w')
x = data('x', [None, 4]) * w
a = x > 0
b = paddle.greater_than(x, w)
c = x.astype('int64')
d = paddle.argmax(x, -1)
e = paddle.full_like(x, 2.0)
f = paddle.cast(c, 'float32') + w
g = (x * 2).mean() + 1
""",
    "functions": """
x = data('x', [None, 4])
for name in ('exp log sqrt rsqrt square reciprocal abs sign sin cos floor ceil round tanh isnan isinf '
             'isfinite').split():
    getattr(paddle, name)(x)
for name in 'relu sigmoid tanh softmax log_softmax leaky_relu relu6'.split():
    getattr(F, name)(x)
F.softmax(x, axis=0)
""",
    "losses": """
x = data('x', [None, 10])
label = data('label', [None, 1], 'int64')
y = data('y', [None, 10])
F.cross_entropy(x, label)
F.cross_entropy(x, label, reduction='sum')
F.cross_entropy(x, y, soft_label=True, reduction='none')
F.softmax_with_cross_entropy(x, label)
F.mse_loss(x, y)
F.l1_loss(x, y)
F.square_error_cost(x, y)
nn.CrossEntropyLoss()(x, label)
""",
    "convolutions": """
x = data('x', [None, 3, 16, 16])
a = nn.Conv2D(3, 4, 3, padding=1)(x)
b = nn.Conv2D(4, 4, 3, stride=2, padding='SAME', bias_attr=False)(a)
c = static.nn.conv2d(b, 6, 3, act='relu')
d = F.max_pool2d(c, 2, 2)
e = nn.AvgPool2D(2, 2)(c)
f = nn.AdaptiveAvgPool2D(1)(c)
g = paddle.flatten(f, 1)
""",
    "norms": """
x = data('x', [None, 4, 6])
a = nn.LayerNorm(6)(x)
b = static.nn.layer_norm(x, begin_norm_axis=2, act='relu')
image = data('image', [None, 6, 4, 4])
c = static.nn.group_norm(image, 3)
d = nn.GroupNorm(3, 6)(image)
""",
    "creation": """
a = paddle.zeros([2, 3])
b = paddle.ones([2, 3], 'int64')
c = paddle.full([2], 3.5)
d = paddle.zeros_like(c)
e = paddle.ones_like(c)
f = paddle.to_tensor([1.0, 2.0, 3.0])
g = paddle.assign(a)
h = paddle.rand([2, 3])
i = paddle.randn([2, 3])
j = paddle.uniform([2, 3], min=0, max=2)
k = paddle.randint(0, 5, [2])
l = static.create_global_var([1], 0.5, 'float32', persistable=True, name='step')
m = static.create_parameter([2, 3], 'float32')
""",
    "initializers": """
attr = lambda init: paddle.ParamAttr(initializer=init)
I = nn.initializer
x = data('x', [None, 6])
for init in (I.Constant(0.5), I.Normal(0.0, 0.02), I.Uniform(-0.1, 0.1), I.XavierNormal(), I.XavierUniform(),
             I.KaimingNormal(), I.KaimingUniform(), I.Assign(np.arange(12, dtype='float32').reshape(6, 2))):
    nn.Linear(6, 2, weight_attr=attr(init))(x)
nn.Conv2D(3, 4, 3)
""",
    "cond": """
x = data('x', [2, 3])
y = data('y', [2, 3])
out = static.nn.cond(paddle.mean(x) > 0, lambda: x + y, lambda: x * y)
last = out + 1
""",
    "cond_of_two": """
x = data('x', [None, 3])
a, b = static.nn.cond(x.sum() > 0, lambda: (x + 1, x * 2), lambda: (x - 1, x / 2))
""",
    "while_loop": """
i = paddle.full([1], 0, 'int64')
n = paddle.full([1], 10, 'int64')
i, n = static.nn.while_loop(lambda i, n: i < n, lambda i, n: [i + 1, n], [i, n])
""",
    "while_sum": """
x = data('x', [3])
i = paddle.zeros([1], 'int64')
total = paddle.zeros([3])
i, total = static.nn.while_loop(lambda i, t: i < 4, lambda i, t: [i + 1, t + x], [i, total])
""",
}

# The same, then trained.
for name, source, loss, optimizer in (
    ("mlp_sgd", "mlp", "loss", "SGD(0.1)"),
    ("mlp_momentum", "mlp", "loss", "Momentum(0.1, 0.9)"),
    ("mlp_adam", "mlp", "loss", "Adam(0.001)"),
    ("lenet_adam", "lenet", "loss", "Adam(0.001)"),
):
    NETWORKS[name] = f"{NETWORKS[source]}paddle.optimizer.{optimizer}.minimize({loss})\n"
NETWORKS["mlp_decay_clip"] = NETWORKS["mlp"] + (
    "paddle.optimizer.SGD(0.1, weight_decay=1e-4, grad_clip=nn.ClipGradByGlobalNorm(1.0)).minimize(loss)\n"
)
NETWORKS["dropout_backward"] = """
x = data('x', [None, 8])
hidden = F.dropout(static.nn.fc(x, 4, activation='sigmoid'), 0.3)
loss = paddle.mean(paddle.sum(hidden * hidden + hidden, axis=1))
static.append_backward(loss)
"""
NETWORKS["conv_backward"] = """
x = data('x', [None, 1, 6, 6])
hidden = static.nn.conv2d(x, 2, 3, act='relu')
loss = paddle.mean(static.nn.conv2d(hidden, 3, 3))
paddle.optimizer.SGD(0.1).minimize(loss)
"""
NETWORKS["scoped_clip"] = """
x = data('x', [None, 4])
with static.name_scope('block'):
    hidden = static.nn.fc(x, 3)
loss = paddle.mean(hidden)
paddle.optimizer.SGD(0.1, grad_clip=nn.ClipGradByValue(1.0)).minimize(loss)
"""
# Gradients that are forward operators themselves.
NETWORKS["gradients"] = """
x = data('x', [4, 6])
x.stop_gradient = False
left, right = paddle.split(x, 2, axis=1)
turned = paddle.flip(left * right, [0])
total = paddle.add_n([turned, left, paddle.sign(right)])
wide = paddle.cast(paddle.assign(2 - total * 3), 'float64')
static.gradients([wide], [x])
"""
NETWORKS["for_test"] = (
    NETWORKS["batch_norm"]
    + """
loss = paddle.mean(static.nn.fc(F.dropout(w, 0.5), 2))
paddle.optimizer.SGD(0.1).minimize(loss)
test_program = static.default_main_program().clone(for_test=True)
"""
)


def build(paddle: Any, np: Any, code: str) -> dict[str, str]:
    """The texts of the Programs that ``code`` builds."""
    static = paddle.static
    paddle.enable_static()
    try:
        main, startup = static.Program(), static.Program()
        with paddle.utils.unique_name.guard(), static.program_guard(main, startup):

            def data(name: str, shape: Any, dtype: str = "float32") -> Any:
                return static.data(name, shape, dtype)

            names = {
                "paddle": paddle,
                "static": static,
                "nn": paddle.nn,
                "F": paddle.nn.functional,
                "data": data,
                "np": np,
            }
            exec(compile(code, "<network>", "exec"), names)
        texts = {"main": str(main), "startup": str(startup)}
        if "test_program" in names:
            texts["test"] = str(names["test_program"])
        return texts
    finally:
        paddle.disable_static()
