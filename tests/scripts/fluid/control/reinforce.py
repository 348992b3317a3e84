"""Policy gradients in the manner of 1.5: rewards as inputs, one backward for each episode; the game is faked."""
import argparse
import math

import numpy as np
import paddle.fluid as fluid
import paddle.fluid.dygraph.nn as nn
import paddle.fluid.framework as framework
from paddle.fluid.dygraph.base import to_variable

parser = argparse.ArgumentParser()
parser.add_argument('--gamma', type=float, default=0.9)
parser.add_argument('--episodes', type=int, default=60)
args = parser.parse_args()


class Corridor(object):
    """Walk to the right end of a corridor; the state says where one is."""

    def reset(self):
        self.at, self.t = 2, 0
        return self.state()

    def state(self):
        return np.eye(6)[self.at]

    def step(self, action):
        self.at = min(5, max(0, self.at + (1 if action == 1 else -1)))
        self.t += 1
        done = self.at == 5 or self.t >= 15
        return self.state(), 1.0 if self.at == 5 else -0.1, done, {}


class Policy(fluid.dygraph.Layer):
    def __init__(self, name_scope):
        super(Policy, self).__init__(name_scope)
        self.affine1 = nn.FC(self.full_name(), size=16)
        self.affine2 = nn.FC(self.full_name(), size=2)
        self.dropout_ratio = 0.1
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        x = fluid.layers.reshape(x, shape=[1, 6])
        x = self.affine1(x)
        x = fluid.layers.dropout(x, self.dropout_ratio)
        x = fluid.layers.relu(x)
        action_scores = self.affine2(x)
        self._x_for_debug = x
        return fluid.layers.softmax(action_scores, axis=1)


with fluid.dygraph.guard():
    fluid.default_startup_program().random_seed = 7
    fluid.default_main_program().random_seed = 7
    np.random.seed(7)
    env = Corridor()
    policy = Policy("PolicyModel")
    eps = np.finfo(np.float32).eps.item()
    optimizer = fluid.optimizer.AdamOptimizer(learning_rate=3e-2)

    def sample_action(probs):
        sample = np.random.random()
        idx = 0
        while idx < len(probs) and sample > probs[idx]:
            sample -= probs[idx]
            idx += 1
        mask = [0.] * len(probs)
        mask[idx] = 1.
        return idx, mask

    def choose_best_action(probs):
        idx = 0 if probs[0] > probs[1] else 1
        return idx, [1. if i == idx else 0. for i in range(2)]

    def select_action(state):
        state = to_variable(state.astype('float32'))
        state.stop_gradient = True
        loss_probs = policy(state)
        probs = loss_probs.numpy()
        action, _mask = sample_action(probs[0])
        mask = to_variable(np.array([_mask]).astype('float32'))
        mask.stop_gradient = True
        loss_probs = fluid.layers.log(loss_probs)
        loss_probs = fluid.layers.elementwise_mul(loss_probs, mask)
        loss_probs = fluid.layers.reduce_sum(loss_probs, dim=-1)
        policy.saved_log_probs.append(loss_probs)
        return action, loss_probs

    def finish_episode():
        R = 0
        policy_loss = []
        returns = []
        for r in policy.rewards[::-1]:
            R = r + args.gamma * R
            returns.insert(0, R)
        mean, std = np.mean(returns), np.std(returns)
        returns = (np.array(returns).astype('float32') - mean) / (std + eps)
        for log_prob, R in zip(policy.saved_log_probs, returns):
            log_prob_numpy = log_prob.numpy()
            R_numpy = np.ones_like(log_prob_numpy).astype("float32") * -1 * R
            _R = to_variable(R_numpy)
            _R.stop_gradient = True
            curr_loss = fluid.layers.elementwise_mul(_R, log_prob)
            policy_loss.append(curr_loss)
        policy_loss = fluid.layers.concat(policy_loss)
        policy_loss = fluid.layers.reduce_sum(policy_loss)
        policy_loss.backward()
        optimizer.minimize(policy_loss)
        dy_grad = policy._x_for_debug.gradient()
        policy.clear_gradients()
        del policy.rewards[:]
        del policy.saved_log_probs[:]
        return dy_grad

    lengths = []
    for i_episode in range(args.episodes):
        state, ep_reward = env.reset(), 0
        for t in range(1, 100):
            action, loss = select_action(state)
            state, reward, done, _ = env.step(action)
            policy.rewards.append(reward)
            ep_reward += reward
            if done:
                break
        lengths.append(t)
        dy_grad = finish_episode()
        if i_episode % 20 == 0:
            print('Episode {}\tLast reward: {:.2f}\tgrad {}'.format(i_episode, ep_reward, dy_grad.shape))
    print('mean length', np.mean(lengths[:10]) > np.mean(lengths[-10:]), 'last', np.mean(lengths[-10:]))
