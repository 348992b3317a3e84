"""The application without a window: Session, view models, commands, project files, runs and worker processes."""
