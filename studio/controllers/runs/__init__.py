"""The list of runs and what is known of each: joins view models to widgets."""
