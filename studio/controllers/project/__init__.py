"""The project, its files and preferences: joins view models to widgets."""
