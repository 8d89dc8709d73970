# Crossed random effects of the cells in cells.csv: rates with known sampling variances by metafor and mgcv, ordered levels by mgcv,
# and rows with a residual variance that is estimated by lme4 and glmmTMB.
#
#     Rscript crossed_effects.R
#
# in this folder makes crossed_effects.json; needs Debian's r-cran-{lme4,glmmtmb,mgcv,metafor,jsonlite}.

suppressMessages({library(lme4); library(glmmTMB); library(mgcv); library(metafor); library(jsonlite)})

rates <- function(cells) {
  p <- (cells$k + 1) / (cells$n + 2)
  transform(cells, z = k / n, v = p * (1 - p) / n)
}
d <- rates(read.csv("cells.csv", stringsAsFactors = TRUE))
d$income <- factor(d$income)
d$cell <- factor(seq_len(nrow(d)))
out <- list()

# metafor: z ~ N(mu, v), one variance per attribute and one per cell, restricted likelihood.
fit <- rma.mv(z, v, random = list(~1 | region, ~1 | income, ~1 | sex, ~1 | cell), data = d, method = "REML",
              control = list(optimizer = "bobyqa", rhobeg = .01, rhoend = 1e-12, maxfun = 100000))
effects <- lapply(ranef(fit), function(each) each$intrcpt)
at <- function(name) effects[[name]][as.integer(d[[name]])]
out$metafor <- list(variances = fit$sigma2, overall = as.numeric(fit$b), overall_error = fit$se,
                    estimate = as.numeric(fit$b) + at("region") + at("income") + at("sex") + at("cell"))

# mgcv: the same with weights 1 / v and a scale of 1; standard errors are those of the posterior at the fitted variances. It wants
# more rows than coefficients, so every cell enters as two halves of its weight, which changes the likelihood by a constant.
known <- function(formula, cells) {
  fit <- gam(formula, data = rbind(cells, cells), weights = 0.5 / v, scale = 1, method = "REML",
             control = gam.control(epsilon = 1e-12, newton = list(conv.tol = 1e-10)))
  predicted <- predict(fit, cells, se.fit = TRUE)
  list(variances = as.numeric(sapply(fit$smooth, function(s) s$S.scale) / fit$sp),
       estimate = as.numeric(predicted$fit), std_error = as.numeric(predicted$se.fit))
}
out$mgcv <- known(z ~ s(region, bs = "re") + s(income, bs = "re") + s(sex, bs = "re") + s(cell, bs = "re"), d)

# mgcv: a Markov random field over twelve levels in order, whose penalty is that of a random walk squared, beside an effect of each.
# The variance of the field is given as the geometric mean over the levels.
a <- rates(read.csv("ages.csv"))
a$age <- a$cell <- factor(a$age)
step <- diag(12)[, -12] - diag(12)[, -1]
penalty <- crossprod(tcrossprod(step))
dimnames(penalty) <- list(levels(a$age), levels(a$age))
out$mgcv_ordered <- known(z ~ s(age, bs = "mrf", xt = list(penalty = penalty)) + s(cell, bs = "re"), a)
roots <- eigen(penalty, symmetric = TRUE)
kernel <- roots$vectors[, -12] %*% (t(roots$vectors[, -12]) / roots$values[-12])
out$mgcv_ordered$variances[1] <- out$mgcv_ordered$variances[1] * exp(mean(log(diag(kernel))))

# lme4 and glmmTMB: rows of 0 and 1, a residual variance, one variance per attribute and one per cell.
rows <- d[rep(seq_len(nrow(d)), d$n), c("region", "income", "sex", "cell")]
rows$y <- unlist(mapply(function(k, n) rep(c(1, 0), c(k, n - k)), d$k, d$n))
formula <- y ~ 1 + (1 | region) + (1 | income) + (1 | sex) + (1 | cell)
first <- match(levels(rows$cell), rows$cell)
tight <- lmerControl(optimizer = "bobyqa", optCtrl = list(maxfun = 1e6, rhobeg = .02, rhoend = 1e-10))
mixed <- lmer(formula, rows, REML = TRUE, control = tight)
parts <- as.data.frame(VarCorr(mixed))
ordered <- setNames(parts$vcov, parts$grp)[c("region", "income", "sex", "cell")]
out$lme4 <- list(variances = as.numeric(ordered), residual = sigma(mixed)^2, estimate = as.numeric(fitted(mixed)[first]))
tmb <- glmmTMB(formula, rows, REML = TRUE, control = glmmTMBControl(optCtrl = list(iter.max = 1e4, eval.max = 1e4, rel.tol = 1e-12)))
out$glmmTMB <- list(variances = as.numeric(unlist(VarCorr(tmb)$cond)[c("region", "income", "sex", "cell")]),
                    residual = sigma(tmb)^2, estimate = as.numeric(fitted(tmb)[first]))
cat(toJSON(out, digits = 14, pretty = TRUE, auto_unbox = TRUE), file = "crossed_effects.json")
