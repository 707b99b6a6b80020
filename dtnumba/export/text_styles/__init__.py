"""A tree as text, a module for each style that programs print trees in.

printed        one tree as it is read for printing, and what leads to each of its children
rpart          as R's rpart prints a tree
competing      splits that competed with those of a tree
rpart_summary  what summary.rpart prints of a tree
tables         ``frame`` and ``splits``: a row a node, and a row a split
summary        ``model.summary()``
weka           as Weka's J48 prints a tree
c50            as C5.0 prints a tree
c50_summary    as C5.0 prints a whole model, and how it does
"""
