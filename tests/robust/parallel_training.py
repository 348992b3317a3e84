"""What each process of a job does whose processes are killed: LeNet on drawn images, with checkpoints."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

import engine as paddle
from engine import distributed as dist

EVERY = 2  # steps between two checkpoints


def main(folder: Path, steps: int) -> None:
    dist.init_parallel_env()
    rank, size = dist.get_rank(), dist.get_world_size()
    paddle.seed(3)
    net = paddle.vision.models.LeNet()
    parallel = paddle.DataParallel(net)
    optimizer = paddle.optimizer.Adam(0.001, parameters=net.parameters())
    last, first = folder / "last.pdparams", 0
    if last.exists():
        state = paddle.load(str(last))
        net.set_state_dict(state["net"])
        optimizer.set_state_dict(state["optimizer"])
        first = int(state["step"])
    print("began", os.environ["PADDLE_RESTART_COUNT"], rank, os.getpid(), os.getppid(), first, flush=True)
    for step in range(first, steps):
        draw = np.random.RandomState(step)
        images = draw.standard_normal((8, 1, 28, 28)).astype("float32")[rank::size]
        labels = draw.randint(0, 10, (8, 1))[rank::size]
        scores = parallel(paddle.to_tensor(images))
        paddle.nn.functional.cross_entropy(scores, paddle.to_tensor(labels)).backward()
        optimizer.step()
        optimizer.clear_grad()
        if rank == 0 and (step + 1) % EVERY == 0:
            state = {"net": net.state_dict(), "optimizer": optimizer.state_dict(), "step": step + 1}
            paddle.save(state, str(last))
        print("step", rank, step + 1, flush=True)
    values = {str(number): value.numpy() for number, value in enumerate(net.parameters())}
    np.savez(folder / f"final.{rank}.npz", **values)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
