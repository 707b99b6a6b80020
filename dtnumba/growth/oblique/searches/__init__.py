"""How the weights of a sum are found.

responses       the targets as searches read them: a class, or numbers
sparse_sums     sums of few columns with drawn weights
discriminant    the direction that explains most of the target, in closed form
linear_algebra  systems of equations, in place
turns           the best step along a line, exact as a threshold
oc1, cart_lc    weight by weight
soft_entropy    downhill on a soft split
soft_loss       what that loses, and its gradient
descent         downhill by L-BFGS
"""
