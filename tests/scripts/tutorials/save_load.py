"""Saving and loading in all ways: state dicts, optimizers, schedules, objects, memory, jit and static files."""

import os
from io import BytesIO

import numpy as np
import paddle
import paddle.nn as nn
from paddle.static import InputSpec

paddle.seed(5)
x = paddle.to_tensor(np.linspace(-1, 1, 12, dtype="float32").reshape(3, 4))


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self._linear = nn.Linear(4, 2)
        self.bn = nn.BatchNorm1D(2)
        self.register_buffer("steps", paddle.zeros([1], "int64"))

    def forward(self, x):
        return self.bn(self._linear(x))


layer = Net()
scheduler = paddle.optimizer.lr.NoamDecay(d_model=64, warmup_steps=10, learning_rate=0.5)
adam = paddle.optimizer.Adam(learning_rate=scheduler, parameters=layer.parameters(), weight_decay=0.01)
for _ in range(3):
    loss = (layer(x) ** 2).mean() + layer._linear.weight.abs().sum()
    loss.backward()
    adam.step()
    adam.clear_grad()
    scheduler.step()
layer.steps += 3
paddle.save(layer.state_dict(), "model/net.pdparams")
paddle.save(adam.state_dict(), "model/adam.pdopt")
paddle.save({"epoch": 3, "loss": loss, "names": ["a", "b"], "best": 0.25}, "model/extra.pkl")
print(sorted(os.listdir("model")))
print(list(layer.state_dict().keys()))

other = Net()
state = paddle.load("model/net.pdparams")
print({k: list(v.shape) for k, v in state.items()})
missing = other.set_state_dict(state)
print(missing)
other_adam = paddle.optimizer.Adam(learning_rate=0.1, parameters=other.parameters())
print(sorted(paddle.load("model/adam.pdopt").keys(), key=lambda k: (len(k), k))[-1])
extra = paddle.load("model/extra.pkl")
print(extra["epoch"], extra["names"], extra["best"], "%.5f" % float(extra["loss"]))
as_numpy = paddle.load("model/net.pdparams", return_numpy=True)
print(type(as_numpy["_linear.weight"]).__name__)
layer.eval(), other.eval()
print(bool((layer(x) == other(x)).all()), int(other.steps))

buffer = BytesIO()
paddle.save(paddle.arange(4), buffer)
buffer.seek(0)
print(paddle.load(buffer).tolist())
paddle.save([paddle.ones([2]), {"deep": (paddle.zeros([1]), "text")}], "model/nested")
nested = paddle.load("model/nested")
print(type(nested).__name__, nested[1]["deep"][1], nested[0].tolist())

paddle.jit.save(layer, "jit/net", input_spec=[InputSpec([None, 4], "float32", "image")])
print(sorted(os.listdir("jit")))
loaded = paddle.jit.load("jit/net")
loaded.eval()
print(np.allclose(loaded(x).numpy(), layer(x).numpy(), atol=1e-6), type(loaded).__name__)
params = loaded.state_dict()
print(len(params), sorted(p.shape[-1] for p in loaded.parameters()))
loaded.train()
sgd = paddle.optimizer.SGD(0.1, parameters=loaded.parameters())
before = loaded(x).sum()
before.backward()
sgd.step()

paddle.enable_static()
main, startup = paddle.static.Program(), paddle.static.Program()
with paddle.static.program_guard(main, startup):
    image = paddle.static.data("image", [None, 4], "float32")
    label = paddle.static.data("label", [None, 1], "float32")
    out = paddle.static.nn.fc(image, 1, weight_attr=paddle.ParamAttr(name="w", initializer=nn.initializer.Constant(0.5)))
    cost = nn.functional.square_error_cost(out, label).mean()
    paddle.optimizer.SGD(0.1).minimize(cost)
exe = paddle.static.Executor(paddle.CPUPlace())
exe.run(startup)
x_np = np.linspace(-1, 1, 12, dtype="float32").reshape(3, 4)
feed = {"image": x_np, "label": np.ones((3, 1), "float32")}
for _ in range(3):
    (value,) = exe.run(main, feed=feed, fetch_list=[cost])
print("%.5f" % float(value))
paddle.static.save(main, "static/all")
paddle.static.save_inference_model("static/infer", [image], [out], exe, program=main)
print([n for n in sorted(os.listdir("static")) if not n.endswith(".info")])
paddle.static.load(main, "static/all")
program, feeds, fetches = paddle.static.load_inference_model("static/infer", exe)
(answer,) = exe.run(program, feed={feeds[0]: x_np}, fetch_list=fetches)
print(feeds, np.round(answer, 4).tolist())
state = paddle.static.load_program_state("static/all")
print(sorted(state), state["w"].shape)
