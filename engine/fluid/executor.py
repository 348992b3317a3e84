"""Paddle's ``fluid.executor``: runs Programs, in scopes."""

from engine.program.run.executor import Executor
from engine.program.run.scope import Scope, global_scope, scope_guard

__all__ = ["Executor", "Scope", "global_scope", "scope_guard"]
