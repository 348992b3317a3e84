"""Diagrams of many runs: their values as columns, what each diagram shows, the importance of settings."""
