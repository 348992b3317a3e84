"""Fusion in plans: several operators become one call."""
