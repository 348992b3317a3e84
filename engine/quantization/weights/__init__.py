"""Weights of layers: balanced between neighbours, rounded, written as integers."""
