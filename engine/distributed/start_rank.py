"""What mpiexec starts for a rank without a guard: the worker, as it is installed.

``python -m engine.distributed.worker`` would import an ``engine.py`` of the current folder. This is run as a
file, so that the only folder in front of the path is this one, and imports nothing before it has left.
"""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]
    from engine.distributed.worker import main

    main(sys.argv[1:])
