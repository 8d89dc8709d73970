"""Arrays, scales and priors that builders share, without PyMC."""
