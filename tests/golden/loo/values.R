# What loo makes of the log densities in log_density.csv, a line per draw and a column per subgroup:
#
#     Rscript values.R
#
# in this folder makes values.csv; needs Debian's r-cran-loo. Draws are independent: their relative efficiency is 1.

suppressMessages(library(loo))

density <- as.matrix(read.csv("log_density.csv", header = FALSE))
answer <- suppressWarnings(loo(density, r_eff = rep(1, ncol(density)), cores = 1))
sink("values.csv")
cat("elpd_loo,p_loo,pareto_k\n")
for (i in seq_len(ncol(density))) {
  point <- answer$pointwise[i, ]
  cat(sprintf("%.15g,%.15g,%.15g\n", point["elpd_loo"], point["p_loo"], answer$diagnostics$pareto_k[i]))
}
