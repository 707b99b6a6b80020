"""Decision graphs as estimators.

decision_graph  DecisionGraphClassifier
forest_votes    how the trees of a forest vote, for its diagram
"""
