"""Runs that train on a cluster, followed while they train."""
