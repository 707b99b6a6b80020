"""Trees of streams: rows are seen once and not kept, and a node splits when chance no longer explains what it saw.

stream      nodes, and what they saw of each column
points      a column of numbers at a node: sums at a few values, exact between any two of them
best_tests  the best tests of a node, and whether they are better by more than chance
learn       rows one by one: down the tree, into what nodes saw, and on to splits
budget      which nodes keep statistics, where memory has no room for those of all
answer      what leaves say: the commonest class, naive Bayes, or whichever was right more often
answer_many  many rows: logarithms that a leaf needs are taken once
stream_tree  from blocks of rows to Trees: room for nodes, levels and classes that come later
stored_stream  a tree as plain arrays, for files, and whether such are one
drift       whether a stream of errors has changed (adaptive windows)
"""
