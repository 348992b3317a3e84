"""The module that ``import paddleslim`` finds first in a spawned process: it installs the finder."""

from engine.core.alias import take_over

take_over(__name__)
