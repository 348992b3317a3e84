"""Searches that choose a sweep's trials from the results of the earlier ones."""
