"""Drawn sums whose numbers are cut into bins at each node, as the values of a column are once for all nodes.

in_hand    the sums that are tried together: their terms, and the columns that these are of
to_codes   the sums of a node's rows, side by side, to the codes of bins
search     the best of the sums of a node, by the histograms of single columns
"""
