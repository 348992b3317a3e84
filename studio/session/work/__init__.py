"""Work in child processes: jobs, the pipe that they report through, workers, tasks. Imports no other room."""
