"""A tree as text, a module for each style that programs print trees in.

printed        one tree as it is read for printing, and what leads to each of its children
rpart          as R's rpart prints a tree
weka           as Weka's J48 prints a tree
c50            as C5.0 prints a tree
r_numbers      numbers as R writes them
"""
