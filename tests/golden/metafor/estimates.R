# What metafor makes of the data in inputs.csv, as lines of numbers:
#
#     Rscript estimates.R
#
# in this folder makes estimates.csv; needs Debian's r-cran-metafor. Columns: data set, what, numbers. For an estimator tau^2 truncated at 0, its standard error,
# the mean, its standard error, Cochran's Q; for the intervals at 95 % their limits.

suppressMessages(library(metafor))

tight <- list(threshold = 1e-13, maxiter = 100000, stepadj = 1)
root <- list(tol = 1e-14, maxiter = 10000, tau2.max = 1000, vc.max = 1000)
line <- function(...) cat(paste(c(...), collapse = ","), "\n", sep = "")
digits <- function(x) sprintf("%.15g", x)

sink("estimates.csv")
line("data", "what", "numbers")
for (text in readLines("inputs.csv")[-1]) {
  fields <- strsplit(text, ",")[[1]]
  numbers <- as.numeric(fields[-(1:2)])
  if (fields[2] == "y") {
    y <- numbers
    next
  }
  v <- numbers
  for (method in c("HE", "DL", "PM", "SJ", "ML", "REML")) {
    control <- switch(method, PM = root[1:3], ML = tight, REML = tight, list())
    found <- rma(yi = y, vi = v, method = method, control = control)
    line(fields[1], method, digits(c(found$tau2, found$se.tau2, found$b, found$se, found$QE)))
    if (method == "DL") {
      line(fields[1], "Q-profile", digits(confint(found, control = root)$random[1, 2:3]))
      line(fields[1], "I2", digits(found$I2))
    }
    if (method %in% c("ML", "REML")) {
      limits <- confint(found, type = "PL", control = root)$random[1, 2:3]
      line(fields[1], paste("profile likelihood", method), digits(limits))
    }
  }
}
