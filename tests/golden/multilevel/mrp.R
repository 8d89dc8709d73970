# Multilevel regression and poststratification of the counts in mrp.csv by rstanarm: each cell, and the population of the census counts.
#
#     Rscript mrp.R
#
# in this folder makes mrp.json; needs Debian's r-cran-{rstanarm,posterior,jsonlite}. rstanarm has exponential priors of standard
# deviations, and bayesgroups half-t ones; "same_prior" weighs the draws by the ratio of the two, "own_prior" does not.

suppressMessages({library(rstanarm); library(jsonlite)})

cells <- read.csv("mrp.csv")
chains <- 4
fit <- stan_glmer(cbind(k, n - k) ~ 1 + (1 | race) + (1 | sex) + (1 | race:sex), data = cells[cells$n > 0, ], family = binomial(),
                  prior_intercept = normal(0, 4), prior_covariance = decov(shape = 1, scale = 1),
                  chains = chains, iter = 6000, seed = 1, adapt_delta = 0.99, refresh = 0, cores = 1)
sds <- sqrt(as.matrix(fit, regex_pars = "^Sigma"))
ratio <- apply(2 * dt(sds, 3) / dexp(sds), 1, prod)

# Mean and limits of draws with weights, each with its Monte Carlo error.
weighted <- function(x, w) {
  error <- function(influence) posterior::mcse_mean(matrix(w * influence / mean(w), ncol = chains))
  order <- order(x)
  heights <- density(x, weights = w / sum(w))
  limit <- function(level) {
    at <- x[order][which(cumsum(w[order]) >= level * sum(w))[1]]
    c(at, error((x <= at) - level) / approx(heights$x, heights$y, at)$y)
  }
  mean <- sum(w * x) / sum(w)
  both <- rbind(c(mean, error(x - mean)), limit(.025), limit(.975))
  list(value = both[, 1], error = both[, 2])
}
draws <- posterior_epred(fit, newdata = transform(cells, k = 0, n = 1))
draws <- cbind(draws, draws %*% cells$count / sum(cells$count))
summarised <- function(w) {
  columns <- lapply(seq_len(ncol(draws)), function(i) weighted(draws[, i], w))
  list(value = t(sapply(columns, `[[`, "value")), error = t(sapply(columns, `[[`, "error")))
}
out <- list(divergences = sum(rstan::get_num_divergent(fit$stanfit)), rhat = max(summary(fit)[, "Rhat"]),
            effective_share = sum(ratio)^2 / sum(ratio^2) / length(ratio),
            own_prior = summarised(rep(1, length(ratio))), same_prior = summarised(ratio))
cat(toJSON(out, digits = 10, pretty = TRUE, auto_unbox = TRUE), file = "mrp.json")
