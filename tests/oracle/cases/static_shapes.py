"""Static graphs: what Variables say of shape, dtype, name and gradient where dimensions are unknown."""

from textwrap import indent

_BEGIN = """\
paddle.enable_static()
static = paddle.static
def call():
    x, im = static.data('x', [None, 3, 4]), static.data('im', [None, 3, 8, 8])
    m, w = static.data('m', [None, 4]), static.data('w', [4, 5])
    v, b = static.data('v', [4]), static.data('b', [None, 4], 'bool')
    k, n = static.data('k', [None, 2], 'int64'), static.data('n', [None, None], 'int32')
    m.stop_gradient = False
"""
_END = """\
    said = []
    for f in out if isinstance(out, (list, tuple)) else [out]:
        said.append(([int(d) for d in f.shape], str(f.dtype).split('.')[-1].lower(), f.stop_gradient, f.name))
    return said
try:
    with paddle.utils.unique_name.guard(), static.program_guard(static.Program(), static.Program()):
        found = call()
finally:
    paddle.disable_static()
found
"""

_EXPRESSIONS = """\
x + 1
x + v
x * x
m @ w
m - 2
2 - m
m / 3
m / m
m ** 2
m // 2.
-m
m > 0
m == v
n + 1
n * 2.5
n / 2
k % 2
b & b
~b
m.astype('float64')
paddle.cast(m, 'int32')
paddle.matmul(x, w)
paddle.matmul(m, m, transpose_y=True)
paddle.matmul(v, v)
paddle.bmm(x, paddle.transpose(x, [0, 2, 1]))
paddle.dot(m, m)
paddle.mv(w, paddle.ones([5]))
paddle.sum(x)
paddle.sum(x, axis=1)
paddle.sum(x, axis=[0, 2], keepdim=True)
paddle.mean(m)
paddle.mean(x, axis=-1, keepdim=True)
paddle.max(x, axis=0)
paddle.min(m)
paddle.prod(m, axis=1)
paddle.any(b)
paddle.all(b, axis=1)
paddle.argmax(m, axis=1)
paddle.argmin(m)
paddle.topk(m, 2)
paddle.sort(m)
paddle.argsort(m)
paddle.cumsum(m, axis=0)
paddle.cumsum(m)
paddle.logsumexp(m, axis=1)
paddle.std(m, axis=1)
paddle.var(m)
paddle.norm(m)
paddle.norm(m, p=2, axis=1)
paddle.reshape(x, [0, -1])
paddle.reshape(x, [-1, 12])
paddle.reshape(x, [-1, 2, 6])
paddle.reshape(m, [-1])
paddle.transpose(x, [1, 0, 2])
paddle.concat([m, m], axis=1)
paddle.concat([m, m], axis=0)
paddle.concat([m, paddle.ones([2, 4])], axis=0)
paddle.stack([m, m])
paddle.stack([m, m], axis=-1)
paddle.split(m, 2, axis=1)
paddle.split(x, [1, 2], axis=1)
paddle.split(x, [1, -1], axis=1)
paddle.chunk(m, 2, axis=1)
paddle.unstack(w)
paddle.unbind(x, axis=1)
paddle.squeeze(paddle.unsqueeze(m, 1), 1)
paddle.squeeze(paddle.ones([1, 3, 1]))
paddle.unsqueeze(m, [0, -1])
paddle.flatten(x)
paddle.flatten(x, 1)
paddle.flatten(im, 1, 2)
paddle.expand(v, [3, 4])
paddle.expand(paddle.unsqueeze(m, 1), [-1, 6, 4])
paddle.tile(m, [1, 3])
paddle.broadcast_to(v, [2, 4])
paddle.expand_as(v, m)
paddle.flip(m, [1])
paddle.roll(m, 1)
paddle.gather(m, paddle.ones([3], 'int64'))
paddle.gather(m, paddle.ones([3], 'int64'), axis=1)
paddle.gather_nd(m, k)
paddle.index_select(m, paddle.ones([3], 'int64'), axis=1)
paddle.take_along_axis(m, k, 1)
paddle.scatter(m, paddle.ones([3], 'int64'), paddle.ones([3, 4]))
paddle.where(b, m, m)
paddle.where(m > 0, m, paddle.zeros_like(m))
paddle.masked_select(m, b)
paddle.nonzero(b)
paddle.unique(k)
paddle.clip(m, 0., 1.)
paddle.abs(m)
paddle.exp(m)
paddle.sqrt(m)
paddle.floor(m)
paddle.sign(m)
paddle.pow(m, 3)
paddle.maximum(m, v)
paddle.isnan(m)
paddle.logical_not(b)
paddle.add_n([m, m])
paddle.zeros([2, 3])
paddle.ones([2], 'int32')
paddle.full([1, 2], 3.5)
paddle.full([], 1, 'int64')
paddle.zeros_like(m)
paddle.ones_like(x)
paddle.full_like(m, 3)
paddle.arange(5)
paddle.arange(0, 1, 0.25)
paddle.linspace(0, 1, 5)
paddle.eye(3)
paddle.rand([2, 3])
paddle.randn([2, 3])
paddle.randint(0, 5, [2, 3])
paddle.uniform([2, 3])
paddle.normal(0., 1., [2, 3])
paddle.randperm(4)
paddle.assign(m)
paddle.to_tensor([1., 2.])
paddle.to_tensor(3)
paddle.tril(w)
paddle.diag(v)
paddle.meshgrid(v, v)
paddle.multinomial(v, 2)
paddle.einsum('bi,ij->bj', m, w)
paddle.shape(x)
paddle.numel(m)
paddle.increment(paddle.zeros([1]))
m.T
m.mean()
m[0]
m[:, 1]
m[:, 1:3]
m[..., 0]
m[None]
m[1:]
m[:-1]
x[:, 0, 1:]
x[0, 1]
m[:, ::2]
m[:, -1]
w[1:3, [0, 2]]
m[b]
F.relu(m)
F.gelu(m)
F.sigmoid(m)
F.tanh(m)
F.softmax(m)
F.log_softmax(x, axis=1)
F.leaky_relu(m)
F.dropout(m, 0.5)
F.one_hot(k, 7)
F.linear(m, w)
F.embedding(k, w)
F.conv2d(im, paddle.ones([6, 3, 3, 3]), padding=1)
F.conv2d(im, paddle.ones([6, 3, 3, 3]), stride=2)
F.conv2d_transpose(im, paddle.ones([3, 6, 3, 3]), stride=2)
F.max_pool2d(im, 2, 2)
F.avg_pool2d(im, 3, 2, 1)
F.adaptive_avg_pool2d(im, 1)
F.adaptive_avg_pool2d(im, [None, 4])
F.interpolate(im, scale_factor=2)
F.interpolate(im, size=[4, 4], mode='bilinear')
F.pad(im, [1, 1, 2, 2])
F.pad(m, [0, 0, 1, 1])
F.layer_norm(m, [4])
F.normalize(m)
F.unfold(im, 3)
F.pixel_shuffle(im[:, :1].tile([1, 4, 1, 1]), 2)
F.cross_entropy(m, paddle.unsqueeze(k[:, 0], 1))
F.cross_entropy(m, k[:, :1], reduction='none')
F.softmax_with_cross_entropy(m, k[:, :1])
F.mse_loss(m, m)
F.mse_loss(m, m, reduction='none')
F.l1_loss(m, m)
F.square_error_cost(m, m)
F.binary_cross_entropy_with_logits(m, m)
F.nll_loss(F.log_softmax(m), k[:, 0])
F.smooth_l1_loss(m, m)
F.kl_div(m, m)
F.cosine_similarity(m, m)
nn.Linear(4, 3)(m)
nn.Conv2D(3, 4, 3)(im)
nn.BatchNorm2D(3)(im)
nn.LayerNorm(4)(m)
nn.GroupNorm(3, 3)(im)
nn.Embedding(10, 6)(k)
nn.Dropout(0.3)(m)
nn.MaxPool2D(2)(im)
nn.Flatten()(im)
nn.LSTM(4, 5)(x)[0]
nn.GRU(4, 5)(x)[1]
nn.MultiHeadAttention(4, 2)(x)
nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))(m)
nn.CrossEntropyLoss()(m, k[:, :1])
static.nn.fc(m, 6)
static.nn.fc(x, 6)
static.nn.fc(x, 6, num_flatten_dims=2)
static.nn.conv2d(im, 4, 3)
static.nn.batch_norm(im)
static.nn.embedding(k, [10, 6])
static.nn.cond(paddle.mean(m) > 0, lambda: m + 1, lambda: m * 2)
static.nn.while_loop(lambda i, y: i < 3, lambda i, y: [i + 1, y * 2], [paddle.zeros([1], 'int64'), m])
static.accuracy(F.softmax(m), k[:, :1])
"""

_RAISING = """\
m + paddle.ones([2, 3])
paddle.reshape(w, [3, 7])
paddle.concat([m, x])
paddle.transpose(m, [0, 1, 2])
paddle.split(w, 3, axis=0)
paddle.squeeze(m, 5)
paddle.gather(m, v)
F.conv2d(im, paddle.ones([6, 4, 3, 3]))
F.embedding(m, w)
F.cross_entropy(m, m[:, 0], axis=9)
static.nn.fc(static.data('u', [None, None]), 3)
static.nn.cond(paddle.mean(m) > 0, lambda: m, lambda: [m, m])
static.nn.cond(m, lambda: m)
static.nn.while_loop(lambda i: i, lambda i: i, [])
static.data('x2', 'four')
paddle.stack([m, x])
paddle.sum(m, axis=5)
m[0, 0, 0]
"""


def _case(expression: str) -> str:
    return f"{_BEGIN}{indent(f'out = {expression}', '    ')}\n{_END}".rstrip("\n")


CALLS: dict[str, str] = {
    **{expression: _case(expression) for expression in _EXPRESSIONS.splitlines()},
    **{f"raises {expression}": _case(expression) for expression in _RAISING.splitlines()},
}
