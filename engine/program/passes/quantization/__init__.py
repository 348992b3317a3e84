"""Passes that quantize Programs: which operators can be, which are, and the pairs in front of them."""
