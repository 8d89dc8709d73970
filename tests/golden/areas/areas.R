# Areas under the ROC curve of the groups in rows.csv, whose scores are tied: estimates, DeLong's standard errors and limits by pROC.
#
#     Rscript areas.R
#
# in this folder makes areas.json; needs Debian's r-cran-{proc,jsonlite}.

suppressMessages({library(pROC); library(jsonlite)})

rows <- read.csv("rows.csv")
areas <- lapply(split(rows, rows$group), function(own) {
  curve <- roc(own$y, own$score, quiet = TRUE, direction = "<", levels = c(0, 1))
  list(auc = as.numeric(auc(curve)), std_error = sqrt(as.numeric(var(curve, method = "delong"))),
       limits = as.numeric(ci.auc(curve, conf.level = 0.95, method = "delong"))[c(1, 3)])
})
cat(toJSON(areas, digits = 14, pretty = TRUE, auto_unbox = TRUE), file = "areas.json")
