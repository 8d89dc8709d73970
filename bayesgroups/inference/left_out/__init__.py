"""Log densities of the data of one subgroup given the data of all others, with its residual effect integrated out."""
