"""Gradients beyond backward(): hooks, own functions, second order, partial graphs, accumulated steps."""

import numpy as np
import paddle
from paddle.autograd import PyLayer


class CusTanh(PyLayer):
    @staticmethod
    def forward(ctx, x, func1, func2=paddle.square):
        ctx.func = func2
        y = func1(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, dy):
        (y,) = ctx.saved_tensor()
        return dy * (1 - ctx.func(y))


x = paddle.to_tensor([[0.5, -1.0], [2.0, 0.1]], stop_gradient=False)
CusTanh.apply(x, func1=paddle.tanh).sum().backward()
print(np.round(x.grad.numpy(), 5).tolist())
x.clear_grad()

handle = x.register_hook(lambda g: g * 2)
y = x * x
y.register_hook(lambda g: print("hook of y:", g.numpy().tolist()))
y.sum().backward()
print(x.grad.tolist())
handle.remove()
x.clear_gradient()

a = paddle.to_tensor(3.0, stop_gradient=False)
(g,) = paddle.grad(a**3, a, create_graph=True)
(h,) = paddle.grad(g, [a], retain_graph=True)
print(float(g), float(h), g.stop_gradient)
unused = paddle.to_tensor([1.0], stop_gradient=False)
print(paddle.grad([a * 2], [a, unused], allow_unused=True)[1])

net = paddle.nn.Linear(2, 2, weight_attr=paddle.nn.initializer.Constant(0.5))
for i in range(3):
    net(x).sum().backward()
print("accumulated", net.weight.grad.tolist(), net.bias.grad.tolist())
net.clear_gradients()
print(net.weight.grad if net.weight.grad is None else net.weight.grad.tolist())

with paddle.no_grad():
    z = x * 2
print(z.stop_gradient, x.is_leaf, (x * 1).is_leaf)


@paddle.no_grad()
def frozen(v):
    return v * 3


print(frozen(x).stop_gradient, paddle.is_grad_enabled())
d = x.detach()
d[0, 0] = 9.0
print(x[0, 0].item(), d.stop_gradient)

p = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
q = p[1:]
q.retain_grads()
(q * q).sum().backward()
print(q.grad.tolist(), p.grad.tolist())
p.clear_grad()


def penalty(critic, real, fake):
    alpha = paddle.to_tensor([[0.3]])
    mix = real * alpha + fake * (1 - alpha)
    mix.stop_gradient = False
    (grad,) = paddle.grad(critic(mix), mix, create_graph=True, retain_graph=True, only_inputs=True)
    return ((grad.norm(p=2, axis=1) - 1) ** 2).mean()


critic = paddle.nn.Sequential(
    paddle.nn.Linear(2, 3, weight_attr=paddle.nn.initializer.Constant(0.2)),
    paddle.nn.Tanh(),
    paddle.nn.Linear(3, 1, weight_attr=paddle.nn.initializer.Constant(-0.4)),
)
gp = penalty(critic, paddle.to_tensor([[1.0, 2.0]]), paddle.to_tensor([[0.0, -1.0]]))
gp.backward()
print("%.6f" % gp.item(), np.round(critic[0].weight.grad.numpy(), 5).tolist())
J = paddle.autograd.jacobian(p * p * 2, p)
print(J[:].numpy().tolist())
