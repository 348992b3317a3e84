"""Saved models of another installation, compared in a child process with limits."""
