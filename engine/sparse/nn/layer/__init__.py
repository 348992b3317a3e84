"""Layers on sparse tensors."""
