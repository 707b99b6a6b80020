"""Peak memory of codes and a fit of a table that comes in batches, above the process; each in a process of its own."""

from measure import at_most, demand, fresh_process, main

JOBS = (  # kind, what it is, the most bytes above the process for each byte of the codes
    ("forest", "2 trees of depth 8", 1.8),
    ("regressor", "2 regression trees of depth 8", None),
    ("tree", "one tree, fully grown", None),
)


def peak(options):
    size, rows = options.size(10_000_000, 500_000), []
    for kind, what, limit in JOBS:
        found = fresh_process("peak_batches.py", kind, size, options.threads)[0]
        demand(found["score"] > found["least"], f"{what}: held-out score {found['score']:.4f}")
        job = f"peak memory of bin_batches and fit above {found['codes'] / 1e6:,.0f} MB of codes, {what}, {size:,} x 28"
        ours, apart = found["above"], found["above"] - found["trees"]
        checked = (
            f"trees apart ({found['trees'] / 1e6:,.1f} MB); leaves {found['leaves']:,}, held-out score "
            f"{found['score']:.4f}; bin_batches {found['seconds'][0]:.1f} s with making the batches twice, fit "
            f"{found['seconds'][1]:.1f} s"
        )
        rows.append(at_most(options, job, "-", f"{ours / 1e6:,.0f} MB", apart / found["codes"], limit, checked))
    return rows


if __name__ == "__main__":
    main(__doc__, [peak])
