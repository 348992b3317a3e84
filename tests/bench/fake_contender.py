"""A contender that does nothing: ``python -m tests.bench.fake_contender MILLISECONDS LOSS`` says it did.

LOSS ``fails`` makes it fail when it is asked for its loss, ``ends`` makes it end at its first job.
"""

from __future__ import annotations

import sys
from typing import Any

from bench.peers.protocol import serve, threads


def main(milliseconds: str, loss: str) -> None:
    """Serve jobs."""

    def repeat(count: int, job: str) -> dict[str, Any]:
        if loss == "ends":
            raise SystemExit(3)
        kind, what, _ = job.split(maxsplit=2)
        assert kind in ("train", "predict")
        if what == "check":
            return {"loss": float(loss)}
        return {"seconds": count * float(milliseconds) / 1e3, "cpu": count * 0.5, "peak": 7_000_000}

    serve(f"fake 1.0 with {threads()} threads", repeat)


if __name__ == "__main__":
    main(*sys.argv[1:])
