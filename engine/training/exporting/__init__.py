"""Exported files of runs: written, checked in a clean process, and fed with raw data."""
