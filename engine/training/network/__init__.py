"""The network of a training: found by name, started from weights, with its losses and inputs."""
