"""Trainings on several processes: their ranks, and the process that started them."""
