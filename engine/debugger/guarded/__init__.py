"""A saved model of another installation, debugged in a child process with limits."""
