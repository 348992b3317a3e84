"""The application without a window: session, view models, commands, files and workers."""
