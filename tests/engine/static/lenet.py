"""LeNet in static mode, trained in a process of its own: run by test_lenet_files.py.

python lenet.py train PREFIX STEPS     prints the losses, saves state after half of them and the model
python lenet.py resume PREFIX STEPS    resumes from the state, prints the losses of the other half
python lenet.py predict PREFIX         prints what the model says of some images
"""

import json
import sys

import numpy as np

import engine as paddle
from engine.nn import functional as F


def batch(step):
    """A batch of images and labels, always the same for a step."""
    drawn = np.random.RandomState(step)
    return {
        "image": drawn.uniform(0, 1, (8, 1, 28, 28)).astype("float32"),
        "label": drawn.randint(0, 10, (8, 1)),
    }


def build():
    """The Programs' Variables: image, scores, loss; and the schedule of the learning rate."""
    static = paddle.static
    image = static.data("image", [None, 1, 28, 28], "float32")
    label = static.data("label", [None, 1], "int64")
    x = static.nn.conv2d(image, 6, 3, padding=1, act="relu")
    x = F.max_pool2d(x, 2, 2)
    x = F.max_pool2d(static.nn.batch_norm(static.nn.conv2d(x, 16, 5), act="relu"), 2, 2)
    x = F.dropout(static.nn.fc(x, 120, activation="relu"), 0.2)
    scores = static.nn.fc(static.nn.fc(x, 84, activation="relu"), 10)
    loss = F.cross_entropy(scores, label)
    schedule = paddle.optimizer.lr.StepDecay(0.01, step_size=3)
    paddle.optimizer.Adam(schedule, weight_decay=1e-4).minimize(loss)
    return image, scores, loss, schedule


def train(executor, loss, schedule, steps):
    losses = []
    for step in steps:
        paddle.seed(step)  # dropout: a resumed run draws what the first one drew
        losses.append(float(executor.run(feed=batch(step), fetch_list=[loss])[0]))
        schedule.step()
    return losses


def main():
    command, prefix = sys.argv[1:3]
    paddle.enable_static()
    static = paddle.static
    executor = static.Executor()
    if command == "predict":
        program, names, fetches = static.load_inference_model(prefix, executor)
        scores = executor.run(program, {names[0]: batch(99)["image"]}, fetches)
        print(json.dumps({"feeds": names, "scores": scores[0].tolist()}))
        return
    steps = int(sys.argv[3])
    image, scores, loss, schedule = build()
    program, half = static.default_main_program(), steps // 2
    if command == "resume":
        static.load(program, f"{prefix}-state", executor)
        schedule.set_state_dict(paddle.load(f"{prefix}-state.schedule"))
        print(json.dumps({"losses": train(executor, loss, schedule, range(half, steps))}))
        return
    executor.run(static.default_startup_program())
    train(executor, loss, schedule, range(half))
    static.save(program, f"{prefix}-state")
    paddle.save(schedule.state_dict(), f"{prefix}-state.schedule")
    losses = train(executor, loss, schedule, range(half, steps))
    static.save_inference_model(prefix, [image], [scores], executor, program=program)
    test = program.clone(for_test=True)
    said = executor.run(test, batch(99), [scores.name])[0]
    print(json.dumps({"losses": losses, "scores": said.tolist()}))


if __name__ == "__main__":
    main()
