"""What mpiexec, or a guard, starts for a rank: the worker, as it is installed.

``python -m engine.distributed.worker`` would import an ``engine.py`` of the current folder. A file is run,
this or the guard: its folder is the only one in front of the path, and nothing is imported before it leaves.
"""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]
    from engine.distributed.worker import main

    main(sys.argv[1:])
