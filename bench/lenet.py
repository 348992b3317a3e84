"""ms a training step of LeNet (forward, loss, backward, Adam), eager and static, beside other libraries.

``python -m bench.lenet [--peer PYTHON] [--batch 64] [--steps 200] [--rounds 10] [--threads N]``. With
``--peer`` (an interpreter that has torch or paddle, or both) those take part in the same run, in turns, each
as its users run it: the engine with one BLAS thread, as its training does (a second one gains nothing on
matrices of this size), the others with all cores. ``--threads`` gives all the same number. Every contender
starts from the same weights and sees the same batch; its last loss is printed, so that a contender that does
other work is noticed.
"""

from __future__ import annotations

from bench.steps import compare, contenders, parser

WARM_UP = 10


def main(arguments: list[str] | None = None) -> None:
    """Measure and print one table."""
    options = parser("bench.lenet", __doc__.splitlines()[0], 64, 200, 10).parse_args(arguments)
    found = contenders("bench.lenet", options.peer, "lenet", [str(options.batch)])
    compare("LeNet", found, options, WARM_UP)


if __name__ == "__main__":
    main()
