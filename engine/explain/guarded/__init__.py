"""Models that are explained in a child process: those of another installation, and those of the window."""
