"""The bases of estimators: parameters, the pipeline of ``fit``, and the answers of fitted models.

estimator          what is learned and how rows are read; classifiers and regressors
named_parameters   parameters read, set and checked by name
shown              how a model is shown: ``summary``, and in notebooks
metadata           what scikit-learn's metadata routing asks
parameters         the parameters every tree shares, each declared once with what is legal
forest_parameters  those that forests add
docs               docstrings put together from the parameters and attributes
fit                the pipeline: rows read and checked, a model grown, what it learned kept
held_out_rows      rows that a fit sets aside, for early stopping, for a pruner and for sizes by folds
prunable           ``prune=`` and ``prune``
one_tree           models of one tree: their answers
fitted_forest      models of many trees: their answers
forest             how all four forests are fitted
classical          the base of the textbooks' learners
rules              the base of models made of rules
splines            the base of models made of hinges
"""
