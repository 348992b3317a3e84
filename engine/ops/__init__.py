"""Every operator that the engine knows, one family a folder. Importing this package fills ``OPS``.

The modules are found by walking the folders: a new file is imported without being listed anywhere. Only files
that end in ``_makers`` wait until a plan wants the compiled kernels that they make.
"""

import importlib
import pkgutil

from engine.core.operators.opdef import OPS
from engine.kernels import cpu

__all__ = ["OPS"]

for _found in pkgutil.walk_packages(__path__, f"{__name__}."):
    if not _found.name.endswith("_makers"):
        importlib.import_module(_found.name)

cpu.register(OPS)
