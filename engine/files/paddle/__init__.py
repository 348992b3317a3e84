"""Paddle's own files as plain values: Programs, combined weights, single tensors, pickles."""
