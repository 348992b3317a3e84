"""Policy gradient: a corridor whose right end pays, actions drawn from the policy's own distribution."""

import numpy as np
import paddle
from paddle.distribution import Categorical

paddle.seed(10)
np.random.seed(10)


class Corridor:
    def __init__(self, size=6):
        self.size = size

    def reset(self):
        self.place, self.time = 1, 0
        return self.state()

    def state(self):
        return np.eye(self.size, dtype="float32")[self.place]

    def step(self, action):
        self.place = min(max(self.place + (1 if action else -1), 0), self.size - 1)
        self.time += 1
        done = self.place == self.size - 1 or self.time == 20
        return self.state(), (1.0 if self.place == self.size - 1 else -0.05), done


class Policy(paddle.nn.Layer):
    def __init__(self):
        super(Policy, self).__init__()
        self.affine1 = paddle.nn.Linear(6, 16)
        self.dropout = paddle.nn.Dropout(p=0.0)
        self.affine2 = paddle.nn.Linear(16, 2)
        self.saved_log_probs, self.rewards = [], []

    def forward(self, x):
        x = paddle.nn.functional.relu(self.dropout(self.affine1(x)))
        return paddle.nn.functional.softmax(self.affine2(x), axis=-1)


env, policy = Corridor(), Policy()
optimizer = paddle.optimizer.Adam(parameters=policy.parameters(), learning_rate=2e-2)
eps = np.finfo(np.float32).eps.item()


def select_action(state):
    probs = policy(paddle.to_tensor(state).unsqueeze(0))
    # Drawn by NumPy, as many scripts do; the log probability carries the gradient.
    action = int(np.random.choice(2, p=probs.numpy()[0].astype("float64") / probs.numpy()[0].astype("float64").sum()))
    policy.saved_log_probs.append(Categorical(paddle.log(probs[0])).log_prob(paddle.to_tensor(action)))
    return action


def finish_episode(gamma=0.95):
    R, returns, policy_loss = 0, [], []
    for r in policy.rewards[::-1]:
        R = r + gamma * R
        returns.insert(0, R)
    returns = paddle.to_tensor(returns, dtype="float32")
    returns = (returns - returns.mean()) / (returns.std() + eps)
    for log_prob, R in zip(policy.saved_log_probs, returns):
        policy_loss.append(-log_prob * R)
    optimizer.clear_grad()
    loss = paddle.concat([p.reshape([1]) for p in policy_loss]).sum()
    loss.backward()
    optimizer.step()
    del policy.rewards[:]
    del policy.saved_log_probs[:]
    return float(loss)


for episode in range(8):
    state, done = env.reset(), False
    while not done:
        state, reward, done = env.step(select_action(state))
        policy.rewards.append(reward)
    length = len(policy.rewards)
    print("episode", episode, "length", length, "loss %.4f" % finish_episode())
with paddle.no_grad():
    print(np.round(policy(paddle.to_tensor(np.eye(6, dtype="float32"))).numpy()[:, 1], 3).tolist())
