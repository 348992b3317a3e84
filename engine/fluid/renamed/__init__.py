"""Names of fluid that only rename: what makes functions and modules of the tables that list them."""
