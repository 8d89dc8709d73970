# Multilevel regression and poststratification of the counts in mrp.csv by brms: each cell, and the population of the census counts.
#
#     Rscript mrp_brms.R
#
# in this folder makes mrp_brms.json; needs Debian's r-cran-{brms,rstan,posterior,jsonlite} and a compiler. Priors are those of
# bayesgroups: normal of scale 4 for the intercept, half-t with three degrees of freedom and scale 1 for standard deviations.

suppressMessages({library(brms); library(jsonlite)})

rstan::rstan_options(boost_lib = "/usr/include")  # Debian has Boost's headers there, and not in the package BH
cells <- read.csv("mrp.csv")
chains <- 4
fit <- brm(k | trials(n) ~ 1 + (1 | race) + (1 | sex) + (1 | race:sex), data = cells[cells$n > 0, ], family = binomial(),
           prior = c(prior(normal(0, 4), class = Intercept), prior(student_t(3, 0, 1), class = sd)),
           control = list(adapt_delta = 0.999, max_treedepth = 12), chains = chains, iter = 11000, warmup = 1000, seed = 1,
           cores = 2, refresh = 0)

# The cell without rows has an effect of its own, drawn from the normal distribution of the others.
set.seed(1)
draws <- posterior_epred(fit, newdata = transform(cells, k = 0, n = 1), allow_new_levels = TRUE, sample_new_levels = "gaussian")
draws <- cbind(draws, draws %*% cells$count / sum(cells$count))

# Mean and limits of a quantity, each with its Monte Carlo error.
summarised <- function(x) {
  by_chain <- matrix(x, ncol = chains)
  value <- c(mean(x), quantile(x, c(.025, .975), names = FALSE))
  error <- c(posterior::mcse_mean(by_chain), posterior::mcse_quantile(by_chain, c(.025, .975)))
  list(value = value, error = unname(error))
}
columns <- lapply(seq_len(ncol(draws)), function(i) summarised(draws[, i]))
out <- list(divergences = sum(nuts_params(fit, pars = "divergent__")$Value), rhat = max(rhat(fit), na.rm = TRUE),
            value = t(sapply(columns, `[[`, "value")), error = t(sapply(columns, `[[`, "error")))
cat(toJSON(out, digits = 10, pretty = TRUE, auto_unbox = TRUE), file = "mrp_brms.json")
