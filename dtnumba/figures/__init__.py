"""Figures of models, drawn with matplotlib. ``dtnumba.plot`` is the object ``plot`` of the module of that name.

plot         the functions that users call, as one object
tree         ``plot(model)``: nodes and edges of one tree
tree_cells   what stands in each node, and how large that is
surface      ``plot.surface``: what is predicted over two columns
importances  ``plot.importances``: what columns are worth, and how much trees differ in that
pruning      ``plot.pruning``: error against size
dependence   ``plot.dependence``: predictions against one column or two, averaged over rows
leaf_weights  partial dependence by the leaves of trees, in one descent of all rows
terms        ``plot.terms``: what splines add up
leaves       ``plot.leaves``: how large leaves are and what they hold
polygons     two columns cut along the borders of trees that test sums
regions      where predictions change along columns, and what is said between
axes         axes to draw in, and text that is drawn as it is
colours      colours that people of any sight can tell apart
"""
