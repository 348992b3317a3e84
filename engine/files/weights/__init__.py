"""Weights of other programs as plain values: safetensors, NPZ, checkpoints of PyTorch, Paddle's pickles."""
