"""Runs Programs: plans, scopes, the Executor."""
