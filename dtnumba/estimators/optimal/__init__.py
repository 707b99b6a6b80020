"""Trees that are proven best.

trees       OptimalTreeClassifier, OptimalTreeRegressor
parameters  what they are asked for, and what other solvers call it
"""
