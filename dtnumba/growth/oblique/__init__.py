"""Tests on sums over several columns: a search proposes the weights of a node, and the scan of all cuts judges them.

choose         which search a fit takes
splitter       a splitter of sums around any other splitter, which finds the best test of one column
searches       what proposes weights: descents, discriminants, drawn sums
indicators     levels of categories as columns of 0 and 1 that sums may combine, where that is asked for
levels_within  the kernel of categories, where their splitter stands within
offer          the best sum of a node beside the best test of one column: a kernel that growth calls by address
subsets        sums of few of many columns: pairs, and one column more at a time
node_columns   the columns that a node may combine: ranges, means, and sums that no order of rows changes
projection     the rows of a node in the order of a sum, and the best cut of it
binned         drawn sums that are cut into bins at each node, in forests: no row is put in order
"""
