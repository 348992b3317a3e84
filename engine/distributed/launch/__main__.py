"""``python -m engine.distributed.launch``, and ``model-studio run -m paddle.distributed.launch``."""

import sys

from engine.distributed.launch.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
