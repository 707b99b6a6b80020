"""Tables to draw trees of, and what is where in a figure of a tree: boxes as the renderer has them, in pixels."""

import numpy as np


def some_rows(seed, n=300, k=3, *, gaps=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(int) + (X[:, 1] > rng.normal(size=n)) * (k - 2)
    X[rng.random(X.shape) < gaps] = np.nan
    return X, y


def colours_table(n=200):
    rng = np.random.default_rng(4)
    X = np.empty((n, 2), object)
    X[:, 0] = rng.choice(["red", "green", "blue", "grey", "violet"], n)
    X[:, 1] = rng.choice(["small", "large", "huge"], n)
    y = np.where(np.isin(X[:, 0], ["red", "blue"]), "stop", np.where(X[:, 1] == "huge", "stop", "go"))
    return X, y


def boxes(ax, dpi=None):
    """Return boxes of nodes, of the text in them and of the words on the way to them, each by node."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    if dpi is not None:
        ax.figure.set_dpi(dpi)
    canvas = FigureCanvasAgg(ax.figure)
    ax.apply_aspect()  # as drawing does first
    renderer = canvas.get_renderer()
    nodes, inside, ways = {}, {}, {}
    for patch in ax.patches:
        if (patch.get_gid() or "").startswith("node "):
            nodes[int(patch.get_gid().split()[-1])] = patch.get_path().get_extents(patch.get_transform()).extents
    for text in ax.texts:
        kind, _, node = text.get_gid().rpartition(" node ")
        found = inside if kind == "text of" else ways
        found.setdefault(int(node), []).append(text.get_window_extent(renderer).extents)
    return nodes, inside, ways


def overlaps(ax):
    """Return how many pairs of cells overlap, cells being boxes with the words on the way to them."""
    nodes, _, ways = boxes(ax)
    lines = [(node, box) for node, own in ways.items() for box in own]
    every = np.array([*nodes.values(), *(box for _, box in lines)])
    low, high = every[:, :2], every[:, 2:]
    apart = 0.01  # of a pixel, for what sums of floats lose
    meets = (low[:, None] < high[None] - apart).all(axis=2) & (low[None] < high[:, None] - apart).all(axis=2)
    np.fill_diagonal(meets, val=False)
    owner = np.array([*nodes, *(node for node, _ in lines)])
    is_text = np.arange(len(every)) >= len(nodes)
    meets &= ~(is_text[:, None] & is_text[None] & (owner[:, None] == owner[None]))  # lines of one text
    return int(meets.sum()) // 2


def outside(ax, dpi=None):
    """Return how many lines of text stand out of their box."""
    nodes, inside, _ = boxes(ax, dpi)
    found = 0
    for node, own in inside.items():
        left, low, right, high = nodes[node]
        found += sum(not (left <= a and low <= b and c <= right and d <= high) for a, b, c, d in own)
    return found
