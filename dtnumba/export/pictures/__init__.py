"""What pictures of models share.

tidy          where nodes stand: a layout without overlap, in linear time
words         what a node and the way to it say, in few words
facts         parameters, and what a fit has found
node_columns  nodes as short columns, which a page reads
page_parts    a page of its parts: data, style, program
report        data, score, confusion, importances, the shape of trees, pruning
charts        bars, columns, lines and tables of a report
rule_table    rules as a table of a page
notebook      a model in a notebook
layers        decision graphs in columns, lines that meet
picture_nodes  the nodes of one tree, for pictures that do not move
text_widths   how wide a text is, and the same cut short
"""
