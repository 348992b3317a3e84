"""Linear regression by hand, by layers and in a static Program: three ways to the same line."""

import numpy as np
import paddle

print("paddle version", paddle.__version__)
rng = np.random.RandomState(0)
features = rng.randn(40, 3).astype("float32")
target = features @ np.array([[1.5], [-2.0], [0.7]], "float32") + 0.4

w = paddle.zeros([3, 1])
b = paddle.to_tensor([0.0])
w.stop_gradient = False
b.stop_gradient = False
X, Y = paddle.to_tensor(features), paddle.to_tensor(target)
for i in range(30):
    loss = ((paddle.matmul(X, w) + b - Y) ** 2).mean()
    loss.backward()
    with paddle.no_grad():
        w.set_value(w - 0.1 * w.grad)
        b.set_value(b - 0.1 * b.grad)
    w.clear_gradient()
    b.clear_gradient()
print("by hand", np.round(w.numpy().ravel(), 4), np.round(b.numpy(), 4), "%.6f" % loss)

linear = paddle.nn.Linear(3, 1, weight_attr=paddle.nn.initializer.Constant(0.0))
mse = paddle.nn.MSELoss()
sgd = paddle.optimizer.SGD(learning_rate=0.1, parameters=linear.parameters())
for i in range(30):
    loss = mse(linear(X), Y)
    loss.backward()
    sgd.step()
    sgd.clear_grad()
    if i % 10 == 9:
        print("epoch {} loss {}".format(i + 1, loss.numpy().round(5)))
print(linear.weight.name.split("_")[0], linear.bias.shape, linear)

paddle.enable_static()
x = paddle.static.data(name="x", shape=[None, 3], dtype="float32")
y = paddle.static.data(name="y", shape=[None, 1], dtype="float32")
pred = paddle.static.nn.fc(x=x, size=1, weight_attr=paddle.nn.initializer.Constant(0.0))
avg_loss = paddle.mean(paddle.nn.functional.square_error_cost(input=pred, label=y))
paddle.optimizer.SGD(learning_rate=0.1).minimize(avg_loss)
exe = paddle.static.Executor()
exe.run(paddle.static.default_startup_program())
for i in range(30):
    out = exe.run(feed={"x": features, "y": target}, fetch_list=[avg_loss.name, pred])
print("static", "%.5f" % out[0], out[1].shape)
print([p.name for p in paddle.static.default_main_program().all_parameters()])
