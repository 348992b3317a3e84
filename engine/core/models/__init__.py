"""What the code of third-party models may use: memory, time, files to import."""
