"""A generative adversarial network on points of a ring: two optimizers, detached fakes, frozen parts."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(2021)
rng = np.random.RandomState(5)


class Generator(nn.Layer):
    def __init__(self, nz=4):
        super().__init__()
        self.main = nn.Sequential(
            nn.Linear(nz, 24, weight_attr=nn.initializer.Normal(0.0, 0.2), bias_attr=False), nn.BatchNorm1D(24), nn.ReLU(), nn.Linear(24, 2)
        )

    def forward(self, z):
        return self.main(z)


class Discriminator(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.LayerList([nn.Linear(2, 24), nn.Linear(24, 24)])
        self.head = nn.Linear(24, 1)

    def forward(self, x):
        for layer in self.body:
            x = F.leaky_relu(layer(x), 0.2)
        return F.sigmoid(self.head(x))


netG, netD = Generator(), Discriminator()
loss = nn.BCELoss()
optD = paddle.optimizer.Adam(parameters=netD.parameters(), learning_rate=0.01, beta1=0.5, beta2=0.999)
optG = paddle.optimizer.Adam(parameters=netG.parameters(), learning_rate=0.005, beta1=0.5, beta2=0.999)
for step in range(12):
    angle = rng.rand(32) * 2 * np.pi
    real = paddle.to_tensor(np.stack([np.cos(angle), np.sin(angle)], 1).astype("float32"))
    noise = paddle.to_tensor(rng.randn(32, 4).astype("float32"))

    optD.clear_grad()
    output = netD(real)
    errD_real = loss(output, paddle.full((32, 1), 1, dtype="float32"))
    errD_real.backward()
    fake = netG(noise)
    output = netD(fake.detach())
    errD_fake = loss(output, paddle.full((32, 1), 0, dtype="float32"))
    errD_fake.backward()
    optD.step()
    errD = errD_real + errD_fake

    optG.clear_grad()
    output = netD(fake)
    errG = loss(output, paddle.ones_like(output))
    errG.backward()
    optG.step()
    if step % 3 == 0:
        print("step %d  D %.4f  G %.4f  D(G(z)) %.3f" % (step, errD.numpy(), errG.numpy(), output.mean().numpy()))
netG.eval()
print(np.round(netG(paddle.zeros([2, 4])).numpy(), 3).tolist())
print([n for n, _ in netD.named_parameters()])
