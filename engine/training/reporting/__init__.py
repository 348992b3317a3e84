"""What a training reports while it runs: progress, speed, and events for its listeners."""
