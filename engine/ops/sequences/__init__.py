"""Recurrent layers, losses of unaligned sequences, paths and masks."""
