"""The child process that runs one model: a script that engine.inference.process starts.

The first line of its standard input says where its imports are and which module answers; messages of
engine.inference.wire follow.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys


def main() -> None:
    """Keep the pipes to the parent from whatever a model prints, then serve until the parent is gone."""
    requests = sys.stdin.buffer
    setup = json.loads(requests.readline())
    sys.path.extend(setup["folders"])
    # Ctrl-C in a terminal reaches all processes of the group; what it means is the parent's to decide.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    importlib.import_module(setup["server"]).serve(requests, answers)


if __name__ == "__main__":
    main()
