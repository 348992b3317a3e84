"""The project, its files and preferences: view models, jobs and state, without Qt."""
