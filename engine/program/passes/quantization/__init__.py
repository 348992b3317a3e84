"""Passes that quantize Programs: which operators can be, which are, and what is put in front of them."""
