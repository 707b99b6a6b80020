"""Explanations of a fitted model: importances of features, and similarity of rows.

importances         mean decrease of impurity, tree by tree
corrected_impurity  the same without its favour for columns of many values
permutation         how much worse predictions get when a column is shuffled
shuffle             a random order computed place by place
proximity           in which share of the trees two rows fall into one leaf
"""
