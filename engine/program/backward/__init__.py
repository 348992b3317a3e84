"""Gradients of Programs."""
