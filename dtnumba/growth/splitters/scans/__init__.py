"""Walks over the cuts of features at a node, for splitters: each keeps the best cut that is legal.

scan_rows         rows in the order of a feature, for any target that is summed
scan_ranked       rows in the order of a feature, for targets whose order counts (absolute_error)
scan_wide         rows in the order of a feature, for very many classes
sorted_scan       rows sorted at the node, then scanned
bounded_scan      rows of two classes, unsorted: a bound on the score rules most cuts out
scan_bins         bins of histograms
scan_packed_bins  bins of histograms that are one number each
random_scan       one drawn cut a feature, over codes
"""
