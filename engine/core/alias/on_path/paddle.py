"""The module that ``import paddle`` finds first in a spawned process: it installs the finder."""

from engine.core.alias import take_over

take_over(__name__)
