"""The module that ``import paddle`` finds first in a spawned process: it installs the finder."""

import importlib
import sys

from engine.core import alias

alias.install()
# The import that runs this file returns the module that is in sys.modules when it ends.
sys.modules[alias.ALIAS] = importlib.import_module(alias.REAL)
