"""Trees that are proven best.

trees         OptimalTreeClassifier, OptimalTreeRegressor
greedy_start  the greedy trees that they begin with
parameters    what they are asked for, and what other solvers call it
"""
