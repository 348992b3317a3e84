"""The list of runs and what is known of each: view models, jobs and state, without Qt."""
