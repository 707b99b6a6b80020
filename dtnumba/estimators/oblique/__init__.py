"""Learners whose nodes may test a weighted sum of several columns.

trees    ObliqueTreeClassifier, ObliqueTreeRegressor, and the parameters of both
forests  ObliqueForestClassifier, ObliqueForestRegressor
"""
