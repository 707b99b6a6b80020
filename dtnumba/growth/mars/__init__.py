"""Multivariate adaptive regression splines: terms added while they gain, then taken away while that costs little.

settings     what a pass is asked for; where knots may stand; what a model of some size costs
predictors   a table as columns in order, of one scale
scan         the best knot of a parent and a predictor
orthonormal  the terms as orthonormal columns, and what they explain
parents      which parents a step looks at
forward      the forward pass
subsets      the best terms of every size
logistic     logistic regression on the terms
exhaustive   every set of terms, as far as it can be the best

J. H. Friedman, Multivariate adaptive regression splines, 1991; Fast MARS, 1993.
"""
