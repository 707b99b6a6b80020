"""Figures of models, drawn with matplotlib. ``dtnumba.plot`` is the object ``plot`` of the module of that name.

plot        the functions that users call, as one object
tree        ``plot(model)``: nodes and edges of one tree
tree_cells  what stands in each node, and how large that is
axes        axes to draw in, and text that is drawn as it is
colours     colours that people of any sight can tell apart
"""
