"""Actor and critic in the manner of 1.8: two losses, advantages of the script's arrays; the game is faked."""
from __future__ import division, print_function

from itertools import count

import numpy as np
import six
import paddle.fluid as fluid
import paddle.fluid.layers as layers
from paddle.fluid.dygraph import Linear, Layer, to_variable

GAMMA = 0.9


class Corridor(object):
    def reset(self):
        self.at, self.t = 2, 0
        return np.eye(6)[self.at]

    def step(self, action):
        self.at = min(5, max(0, self.at + (1 if action == 1 else -1)))
        self.t += 1
        done = self.at == 5 or self.t >= 15
        return np.eye(6)[self.at], 1.0 if self.at == 5 else -0.1, done, {}


class Actor(Layer):
    def __init__(self, states, actions):
        super(Actor, self).__init__()
        self.linear1 = Linear(states, 16)
        self.linear2 = Linear(16, actions)

    def forward(self, state):
        x = layers.relu(self.linear1(state))
        return layers.softmax(self.linear2(x))


class Critic(Layer):
    def __init__(self, states):
        super(Critic, self).__init__()
        self.linear1 = Linear(states, 16)
        self.linear2 = Linear(16, 1)

    def forward(self, state):
        return self.linear2(layers.relu(self.linear1(state)))


def compute_returns(next_value, rewards, masks):
    R, returns = next_value, []
    for step in six.moves.range(len(rewards) - 1, -1, -1):
        R = rewards[step] + GAMMA * R * masks[step]
        returns.insert(0, R)
    return returns


def train(actor, critic, episodes):
    optimizer_a = fluid.optimizer.AdamOptimizer(learning_rate=0.03, parameter_list=actor.parameters())
    optimizer_c = fluid.optimizer.AdamOptimizer(learning_rate=0.03, parameter_list=critic.parameters())
    env, lengths = Corridor(), []
    for episode in range(episodes):
        state = env.reset()
        log_probs, values, rewards, masks = [], [], [], []
        for i in count():
            state = to_variable(np.array([state], dtype='float32'))
            dist, value = actor(state), critic(state)
            probs = dist.numpy()[0].astype('float64')
            action = np.random.choice(2, p=probs / probs.sum())
            next_state, reward, done, _ = env.step(action)
            log_prob = layers.log(layers.reduce_sum(dist * np.eye(2, dtype='float32')[[action]], dim=-1))
            log_probs.append(log_prob)
            values.append(value)
            rewards.append(to_variable(np.array([reward], dtype='float32')))
            masks.append(to_variable(np.array([1 - done], dtype='float32')))
            state = next_state
            if done:
                break
        lengths.append(i)
        next_state = to_variable(np.array([next_state], dtype='float32'))
        returns = compute_returns(critic(next_state), rewards, masks)
        log_probs = layers.concat(log_probs)
        returns = layers.concat(returns).detach()
        values = layers.concat(values)
        advantage = returns - values
        actor_loss = -layers.mean(log_probs * layers.squeeze(advantage.detach(), [1]))
        critic_loss = layers.mean(layers.pow(advantage, 2.0))
        actor_loss.backward()
        critic_loss.backward()
        optimizer_a.minimize(actor_loss)
        optimizer_c.minimize(critic_loss)
        actor.clear_gradients()
        critic.clear_gradients()
        if episode % 20 == 0:
            print('Iteration: {}, Score: {}, loss {:.3f} {:.3f}'.format(
                episode, i, float(actor_loss.numpy()), critic_loss.numpy()[0]))
    return lengths


if __name__ == '__main__':
    place = fluid.CUDAPlace(0) if fluid.is_compiled_with_cuda() else fluid.CPUPlace()
    with fluid.dygraph.guard(place):
        fluid.default_main_program().random_seed = 3
        fluid.default_startup_program().random_seed = 3
        np.random.seed(3)
        actor, critic = Actor(6, 2), Critic(6)
        lengths = train(actor, critic, 80)
        fluid.save_dygraph(actor.state_dict(), 'actor')
        state, _ = fluid.load_dygraph('actor')
        actor.set_dict(state)
        print('sooner', np.mean(lengths[-10:]) < np.mean(lengths[:10]), sorted(state)[:2])
