"""Differences in numbers: requests, the job that computes them, and their words, without Qt."""
