"""What C5.0 does beside its tree, a step a module.

winnowing   columns left out at first
trials      trees, or their rules, one after another
soft_cuts   how far from a cut of numbers rows go both ways
evaluation  how it does on the rows of its fit, and which columns it looks at
fitted_trials  the trees of a fitted model: how many, how large, where rows end
"""
