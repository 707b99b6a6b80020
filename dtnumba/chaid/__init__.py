"""CHAID: categories that a target does not tell apart become one, and the predictor least likely by chance is tested.

predictors (a table as few codes a column) -> study (every predictor of a node) -> merging, resplit, association,
multipliers -> growth (nodes) -> layout (Trees).

G. V. Kass, An exploratory technique for investigating large quantities of categorical data, 1980; D. Biggs, B. de Ville
& E. Suen, A method of choosing multiway partitions for classification and decision trees, 1991 (exhaustive CHAID).
"""
