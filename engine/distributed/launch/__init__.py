"""``paddle.distributed.launch``: a script in several processes, which end together."""

import sys
from types import ModuleType


class _Launch(ModuleType):
    """The package can be called, since Paddle's ``launch`` is a package and a function of one name."""

    def __call__(self) -> None:
        """Launch what the words behind the program's name say, and exit with the job's status."""
        from engine.distributed.launch.command import main

        sys.exit(main(sys.argv[1:]))


sys.modules[__name__].__class__ = _Launch
