"""Own callbacks of ``Model.fit``: one that counts, one that notes losses and stops, one that changes the rate."""

import numpy as np
import paddle
from paddle.static import InputSpec

paddle.seed(7)
rng = np.random.RandomState(4)
x = rng.rand(64, 6).astype("float32")
y = (x @ np.arange(1, 7).astype("float32")[:, None] / 10 + 0.3).astype("float32")


class LossHistory(paddle.callbacks.Callback):
    def on_train_begin(self, logs=None):
        self.losses = []
        print("begin", sorted(k for k in (self.params or {}) if k in ("epochs", "steps", "verbose")))

    def on_train_batch_end(self, step, logs=None):
        self.losses.append(float(np.asarray(logs["loss"]).reshape(-1)[0]))

    def on_epoch_end(self, epoch, logs=None):
        print("epoch", epoch, "mean loss %.5f" % np.mean(self.losses[-8:]), "batches", len(self.losses))
        if np.mean(self.losses[-8:]) < 0.01:
            self.model.stop_training = True

    def on_train_end(self, logs=None):
        print("end after", len(self.losses), "batches")


class HalveRate(paddle.callbacks.Callback):
    def __init__(self, every=3):
        super(HalveRate, self).__init__()
        self.every = every

    def on_epoch_begin(self, epoch=None, logs=None):
        if epoch and epoch % self.every == 0:
            opt = self.model._optimizer
            opt.set_lr(opt.get_lr() / 2)
            print("rate is now %.4f" % opt.get_lr())


net = paddle.nn.Sequential(paddle.nn.Linear(6, 16), paddle.nn.Tanh(), paddle.nn.Linear(16, 1))
model = paddle.Model(net, InputSpec([None, 6], "float32", "x"), InputSpec([None, 1], "float32", "y"))
model.prepare(paddle.optimizer.Momentum(0.1, parameters=model.parameters()), paddle.nn.MSELoss())
history = LossHistory()
data = paddle.io.TensorDataset([paddle.to_tensor(x), paddle.to_tensor(y)])
model.fit(data, epochs=8, batch_size=8, verbose=0, shuffle=False, callbacks=[history, HalveRate()])
print(["%.4f" % value for value in history.losses[::8]])
