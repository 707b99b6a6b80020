"""The tests of a node of multiway growth: on numbers, on categories, and those that stand in for them.

criterion_hooks   methods of a criterion beyond its gain
group_rows        the rows of a node by the codes of one feature
judge_test        gain of a split from the sums of its children, whatever missing values do
number_tests      thresholds, and what intervals and ranges have in common with them
entropy_cut       the threshold of largest entropy gain, row by row
interval_tests    intervals
range_tests       ranges between cuts that pay for themselves
category_tests    splits on categories
merge_categories  splits on groups of categories, as C4.5 finds them
group_categories  splits on groups of categories, as C5.0 finds them
surrogates        splits that agree with the chosen one
"""
