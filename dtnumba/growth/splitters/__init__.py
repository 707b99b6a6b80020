"""The best split of a node on numbers. Adding a splitter is one class in one file here (see contract).

contract                        what a splitter implements; the registry is ``binary/choose_splitter``
candidates                      the best cut of each feature: when it is legal, when it is better, how it is written
presorted, sort_at_node         exact: orders kept sorted down the tree, or made at the node
histogram, coded_rows           over histograms of codes
sparse_histogram                the same over the stored values of a sparse table
fill_tables                     histograms of a node's features, filled
random_exact, random_histogram  one random threshold a feature
random_ranks, random_values     the same for forests of exact thresholds
scans                           walk the cuts of features: rows in order, bins, drawn cuts
partition                       rows that go left, moved to the front
"""
