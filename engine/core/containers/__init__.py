"""Containers: bounded caches, mappings by identity, nested lists and dicts."""
