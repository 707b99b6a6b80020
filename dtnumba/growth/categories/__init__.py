"""The best split of a node on categories, around any splitter of numbers.

choose           which splitter serves the target, the criterion and the number of categories
splitter         the splitter: numbers by the one inside it, categories by the modules below
ordering         the order in which categories are cut, so that few subsets need a look
search_levels    one category at a node: a kernel that growth calls by address
subset_search    the best subset, by sums
by_median        the best subset, for targets that are ranked
node_categories  which categories a node has, and their sums
"""
