"""What ``import paddle`` finds first in a process that a script spawned: it makes way for the engine."""

import importlib
import sys

from engine.core import alias

alias.install()
# The import that runs this file hands out what stands in sys.modules when it is done.
sys.modules[alias.ALIAS] = importlib.import_module(alias.REAL)
