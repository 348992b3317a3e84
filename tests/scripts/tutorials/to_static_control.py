"""Control flow that depends on Tensors, converted to a static Program and trained through it."""

import numpy as np
import paddle
import paddle.nn as nn
from paddle.jit import to_static
from paddle.static import InputSpec


@to_static
def collatz(n):
    count = paddle.zeros([1], "int64")
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        count += 1
    return count


for start in (1, 6, 7, 27):
    print(start, int(collatz(paddle.to_tensor([start], dtype="int64"))))


@to_static(input_spec=[InputSpec([None, 3], "float32")])
def first_positive_row(x):
    found = paddle.full([1], -1, "int64")
    for i in range(x.shape[0]):
        if x[i].min() > 0:
            found = paddle.full([1], 1, "int64") * i
            break
    return found


print(int(first_positive_row(paddle.to_tensor([[-1.0, 2, 3], [4, 5, 6], [7, 8, 9]]))))
print(int(first_positive_row(-paddle.ones([2, 3]))))


class Gate(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4, weight_attr=nn.initializer.Constant(0.1))
        self.b = nn.Linear(4, 4, weight_attr=nn.initializer.Constant(-0.2))

    @to_static
    def forward(self, x, times=2):
        outs = []
        for i in range(times):
            if paddle.mean(x) > 0:
                x = paddle.tanh(self.a(x))
            else:
                x = self.b(x) + 1.0
            outs.append(x)
        return outs[-1], paddle.add_n(outs)


gate = Gate()
opt = paddle.optimizer.SGD(0.05, parameters=gate.parameters())
data = np.linspace(-2, 1.5, 8, dtype="float32").reshape(2, 4)
for step in range(4):
    last, total = gate(paddle.to_tensor(data))
    loss = (total**2).mean() + last.sum() * 0.1
    loss.backward()
    opt.step()
    opt.clear_grad()
    print("step", step, "loss %.5f" % loss.item())
print(np.round(gate.b.weight.numpy()[0], 5).tolist())
gate.eval()
paddle.jit.save(gate, "gate/model")
loaded = paddle.jit.load("gate/model")
for sign in (1.0, -1.0):
    ours, theirs = gate(paddle.to_tensor(data * sign))[1], loaded(paddle.to_tensor(data * sign))[1]
    print(np.allclose(ours.numpy(), theirs.numpy(), atol=1e-6))
print(isinstance(collatz, paddle.jit.dy2static.program_translator.StaticFunction) or "StaticFunction" in type(collatz).__name__)
