"""What a GPU does with the engine, in one report to paste: ``python -m bench.gpu [--out report.md]``.

The whole operator table against NumPy; kernels of the engine's own against CuPy's; steps of LeNet, ResNet-18,
LSTM and Transformer (eager, converted, converted as a CUDA graph; float32 and mixed precision) next to torch
where it is installed, with launches, waits and memory; the losses and the accuracy of LeNet next to the
CPU's. Products in TF32 are off on both sides unless ``--tf32`` switches them on, on both.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.arguments import positive
from bench.nets import ROWS, Job

NETS = ("lenet", "resnet", "lstm", "transformer")
SECTIONS = ("operators", "kernels", "steps", "equality")
LOSSES_WITHIN, POINTS_WITHIN = 1e-4, 0.5


@dataclass
class Plan:
    """What is measured; a test takes less of everything."""

    sections: Sequence[str] = SECTIONS
    operators: Sequence[str] = ()  # all
    kernels: int = 100  # the first so many sizes
    jobs: dict[str, Job] = field(default_factory=lambda: {ROWS[net].title: ROWS[net].job for net in NETS})
    precisions: Sequence[str] = ("float32", "float16", "bfloat16")
    rounds: int = 7
    samples: int = 10_000
    tested: int = 2_000
    counting: Any = None


def main(arguments: list[str] | None = None) -> int:
    """Measure and print; 1 where there is no GPU, or a result is wrong."""
    parser = argparse.ArgumentParser(prog="python -m bench.gpu", description=__doc__)
    parser.add_argument("--out", help="a file for the report, next to standard output")
    parser.add_argument("--rounds", type=positive, default=7, help="rounds of each time; the median counts")
    parser.add_argument("--only", choices=SECTIONS, action="append", help="a section; may be repeated")
    parser.add_argument("--tf32", action="store_true", help="products in TF32, in the engine and in torch")
    options = parser.parse_args(arguments)
    os.environ["CUPY_TF32"] = "1" if options.tf32 else "0"  # before CuPy is imported
    from engine.core.errors import DeviceError
    from engine.core.place import CUDAPlace, backend

    try:
        backend(CUDAPlace(0))
    except DeviceError as error:
        print(
            f"bench.gpu: the GPU {error.why}; {error.remedy or 'run this where there is one'}",
            file=sys.stderr,
        )
        return 1
    from bench.driver_calls import counted

    _same_for_torch(options.tf32)
    plan = Plan(options.only or SECTIONS, rounds=options.rounds, counting=counted)
    text, sound = report(plan, lambda line: print(line, flush=True))
    if options.out:
        Path(options.out).write_text(text, encoding="utf-8")
    return 0 if sound else 1


def report(plan: Plan, say: Callable[[str], None]) -> tuple[str, bool]:
    """The report as Markdown, said line by line as it is made, and whether all results are right."""
    lines: list[str] = []

    def write(*parts: str) -> None:
        for line in parts:
            lines.append(line)
            say(line)

    write("# bench.gpu", "", *versions(), "")
    parts = {"operators": _operators, "kernels": _kernels, "steps": _steps, "equality": _equality}
    sound = [parts[name](plan, write) for name in plan.sections]
    write("", "All results are right." if all(sound) else "**Some results are wrong, see above.**")
    return "\n".join(lines) + "\n", all(sound)


def versions() -> list[str]:
    """What computes, and in which precision."""
    import engine
    from engine.core import devices
    from engine.core.place import place_guard
    from engine.files.native.image import product

    properties = engine.device.cuda.get_device_properties(0)
    with place_guard("gpu:0"):
        known = devices.versions()
    try:
        import torch

        peer = f"torch {torch.__version__}, CUDA {torch.version.cuda}"
    except ImportError:
        peer = "torch is not installed"
    tf32 = "on" if os.environ.get("CUPY_TF32", "0") not in ("", "0") else "off"
    return [
        f"- {product()}, Python {platform.python_version()}, {platform.system()} {platform.release()}, "
        f"{os.cpu_count()} processors",
        f"- {properties.name}, compute capability {properties.major}.{properties.minor}, "
        f"{properties.total_memory / 2**30:.1f} GiB, {properties.multi_processor_count} multiprocessors",
        f"- CuPy {known['cupy']}, CUDA {known['cuda']}, driver for CUDA {known['driver']}; {peer}",
        f"- products in TF32: {tf32}, in the engine and in torch (its convolutions too)",
    ]


def _same_for_torch(tf32: bool) -> None:
    try:
        import torch
    except ImportError:
        return
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = tf32


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return ["", *(f"| {' | '.join(line)} |" for line in lines), ""]


def _operators(plan: Plan, write: Callable[..., None]) -> bool:
    from bench.gpu_operators import operators

    found = operators(plan.operators)
    wrong = [text for each in found for text in each.wrong]
    write(
        "## Operators",
        "",
        f"{len(found)} operators, {sum(each.rows for each in found)} rows: {len(wrong)} differ from NumPy. "
        "Microseconds of a call on small arrays (median of the rows):",
    )
    write(*(f"- wrong: {text}" for text in wrong))
    rows = [
        (each.op, str(each.rows), str(len(each.wrong)), f"{each.cpu:.0f}", f"{each.gpu:.0f}")
        for each in found
    ]
    write(*_table(("operator", "rows", "wrong", "CPU", "GPU"), rows))
    return not wrong


def _kernels(plan: Plan, write: Callable[..., None]) -> bool:
    from bench.gpu_operators import kernels_of, sizes

    write("## Kernels", "", "Forward and back, microseconds on the device (median), float32:")
    rows = [
        (title, f"{ours:.0f}", f"{theirs:.0f}", f"{ours / theirs:.2f}" if theirs else "")
        for title, ours, theirs in kernels_of(sizes()[: plan.kernels], plan.rounds)
    ]
    write(*_table(("kernel", "the engine's", "CuPy's", "ratio"), rows))
    return True


def _steps(plan: Plan, write: Callable[..., None]) -> bool:
    from bench.gpu_steps import engine_steps, torch_steps
    from engine.core.place import place_guard

    write(
        "## Steps",
        "",
        "Forward, loss, backward, Adam; milliseconds a step (median of the rounds), launches / waits of a "
        "step, the most memory of GPU and host in MB.",
    )
    for title, job in plan.jobs.items():
        rows = []
        for precision in plan.precisions:
            with place_guard("gpu:0"):
                steps = engine_steps(job, precision, plan.rounds, plan.counting)
            peers = torch_steps(job, precision, plan.rounds, plan.counting)
            for step in (*steps, *peers):
                ratio = f"{step.milliseconds / peers[0].milliseconds:.2f}" if peers else ""
                rows.append(
                    (
                        f"{precision}, {step.who}",
                        f"{step.milliseconds:.3f}",
                        ratio,
                        step.calls,
                        f"{step.device_memory:.0f}",
                        f"{step.host_memory:.0f}",
                        f"{step.losses[-1]:.4f}",
                    )
                )
        write(
            "",
            f"### {title}",
            *_table(("", "ms", "of torch's", "launches / waits", "GPU MB", "host MB", "fifth loss"), rows),
        )
    return True


def _equality(plan: Plan, write: Callable[..., None]) -> bool:
    from bench.gpu_equality import accuracy, first_losses

    here, there = first_losses("cpu"), first_losses("gpu:0")
    apart = max(abs(a - b) for a, b in zip(here, there, strict=True))
    write(
        "## Equal results",
        "",
        f"LeNet, the first ten losses from the same weights and batches: at most {apart:.2g} apart (allowed "
        f"{LOSSES_WITHIN:g}).",
    )
    cpu, gpu = (accuracy(device, plan.samples, plan.tested) for device in ("cpu", "gpu:0"))
    write(
        f"Accuracy after an epoch of {plan.samples} digits: CPU {cpu:.2%}, GPU {gpu:.2%} (allowed "
        f"{POINTS_WITHIN} points apart)."
    )
    return apart <= LOSSES_WITHIN and 100 * abs(cpu - gpu) <= POINTS_WITHIN


if __name__ == "__main__":
    sys.exit(main())
