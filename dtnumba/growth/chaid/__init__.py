"""CHAID: merge the categories that the target does not tell apart, and split by the predictor least likely by chance.

predictors         a table as few codes a column
outcome            what rows add to the tables, and the values of nodes
test_node          every predictor of a node: tables, mergers, chances
merge_categories   the categories of one predictor, merged
chi_squared_and_f  how little groups of rows tell about the target, and the chance of that
bonferroni         in how many ways categories can be merged
grow               the loop over nodes
to_trees           from its nodes to Trees
report             what a fit found, for people

G. V. Kass, An exploratory technique for investigating large quantities of categorical data, 1980; D. Biggs, B. de Ville
& E. Suen, A method of choosing multiway partitions for classification and decision trees, 1991 (exhaustive CHAID).
"""
