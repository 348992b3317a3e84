"""Loops and searches over sequences of uneven lengths (LoD)."""
