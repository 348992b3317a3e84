"""Paddle's ``reader``: functions on readers, which are functions that give an iterator (before 2.0)."""

from engine.reader.decorator import buffered, cache, chain, compose, firstn, map_readers, shuffle

__all__ = ["buffered", "cache", "chain", "compose", "firstn", "map_readers", "shuffle"]
