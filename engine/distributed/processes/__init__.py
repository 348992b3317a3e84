"""How the processes of a job are started: by mpiexec, for ``launch`` and ``spawn``."""
