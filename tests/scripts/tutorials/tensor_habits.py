"""Tensors as scripts use them: creation, indexing, arithmetic with NumPy and Python numbers, printing."""

import numpy as np
import paddle

x = paddle.to_tensor([[1, 2, 3], [4, 5, 6]])
print(x)
print(x.shape, x.ndim, x.size, x.dtype, x.place, len(x), x.numel().item())
f = x.astype("float32") / 2
print(f, f.mean().item(), f.sum(axis=1).tolist(), f.max(), float(f.min()))
print((x + 1.5).dtype, (x * True).dtype, (x / 2).dtype, (x // 2).tolist(), (x % 2).tolist(), (2**x).tolist(), (-x).abs().tolist())
print((f + np.ones((2, 3))).dtype, (np.float32(2) * f).dtype, (1 - f).tolist())
f[0, 1] = 10
f[1] = paddle.to_tensor([7.0, 8.0, 9.0])
f[:, -1] += 1
print(f.tolist(), f[f > 8].tolist(), f[paddle.to_tensor([1, 0])][:, 0].tolist(), f[..., None].shape, f[::2, 1:].tolist())
print(paddle.where(f > 5, f, paddle.zeros_like(f)).tolist(), paddle.nonzero(f > 9).tolist(), paddle.topk(f, 2)[1].tolist())
print(paddle.concat([x, x], axis=0).shape, paddle.stack([x, x], -1).shape, [t.shape for t in paddle.split(f, [1, -1], axis=1)])
print(paddle.arange(3), paddle.linspace(0, 1, 3), paddle.eye(2), paddle.full([2], 3), paddle.ones([1, 2], dtype="int32"))
print(x.reshape([-1]), x.transpose([1, 0]).shape, x.T.shape, x.flatten().unsqueeze(0).squeeze().shape, paddle.tile(x, [1, 2]).shape)
print(bool((x == x).all()), (x > 2).any().item(), paddle.allclose(f, f).item(), x.equal(x).dtype, paddle.equal_all(x, x))
print(f.numpy().dtype, np.asarray(f).shape, list(f[0]), f[0][0].item(), int(x[0, 0]), f"{f[0, 0].item():.2f}", "%d" % x[1, 1])
for row in x:
    print(row.sum().item(), end=" ")
print()
a = paddle.to_tensor(3.14159)
print(a, a.shape, paddle.to_tensor(True), paddle.to_tensor([1.0], dtype="float64"), paddle.to_tensor(2 + 3j))
print(paddle.to_tensor([]), paddle.zeros([0, 3]), paddle.to_tensor(np.arange(3, dtype="uint8")), paddle.to_tensor(["a"][0] == "a"))
big = paddle.arange(2000, dtype="float32").reshape([40, 50])
print(big)
paddle.set_printoptions(precision=3, threshold=10, edgeitems=2)
print(big / 7)
paddle.set_printoptions(precision=8, threshold=1000, edgeitems=3)
print(paddle.to_tensor([1e-7, 1.0, 1e7]), paddle.to_tensor([[float("nan"), float("inf")]]))
y = x.clone()
y.add_(paddle.ones_like(y))
y[y > 4] = 0
print(y.tolist(), x.tolist(), x.cumsum(axis=0).tolist(), paddle.argsort(f, descending=True).tolist(), f.argmax().item(), f.argmax(axis=1).tolist())
print(paddle.einsum("ij,kj->ik", f, f).shape, paddle.matmul(f, f, transpose_y=True).shape, (f @ f.t()).shape, paddle.dot(f[0], f[1]).item())
print(paddle.scatter(f, paddle.to_tensor([0]), paddle.zeros([1, 3])).tolist(), paddle.gather(f, paddle.to_tensor([1])).tolist(), paddle.index_select(f, paddle.to_tensor([0, 2]), axis=1).tolist())
print(paddle.broadcast_to(paddle.to_tensor([1, 2, 3]), [2, 3]).tolist(), paddle.expand(x[:1], [2, 3]).shape, paddle.roll(x, 1).tolist(), x.unbind(0)[0].tolist())
print(f.std().item() > 0, f.var(unbiased=False).shape, f.median().item(), paddle.quantile(f, 0.5).item(), f.clip(2, 8).tolist(), paddle.unique(y).tolist())
print(x.cast("bool").tolist(), x.astype(paddle.float16).dtype, paddle.is_tensor(x), isinstance(x, paddle.Tensor), type(x).__name__)
print(hash(x) == hash(x), x is x, x.name.startswith("generated_tensor"), x.stop_gradient, x.grad, x.persistable)
try:
    paddle.matmul(x, x)
except Exception as error:
    print(isinstance(error, ValueError))
try:
    paddle.reshape(x, [4, 4])
except ValueError as error:
    print("ValueError")
