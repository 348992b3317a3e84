"""Tensor arrays whose length only the running Program knows."""
