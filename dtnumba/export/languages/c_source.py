"""The functions of C sources, which read tables of words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtnumba.prediction.confident_votes import EVEN
from dtnumba.tables.costs import LeastCost

if TYPE_CHECKING:
    from dtnumba.export.languages.tables import LoopTables
    from dtnumba.export.reading import ReadTrees

CUT_SINGLE = "#define THRESHOLD(at) single(NODES((at) * STRIDE + 2))\n"
CUT_DOUBLE = "#define THRESHOLD(at) real(NODES((at) * STRIDE + 2), NODES((at) * STRIDE + 3))\n"

# Eight rows descend together, so that the processor waits for one node while it compares others; a leaf is its own
# child. Of blocks of rows 8192 are as fast as any: 100,000 rows through 988,917 nodes take 0.18 s (2026-11-20).
_QUICK = """
#define TOGETHER 8

static uint32_t step(uint32_t at, const double *row, uint32_t *going)
{
    const uint32_t word = NODES(at * STRIDE + 1), leaf = word >> 31;
    const double value = row[word & 0xffffff];
    const uint32_t absent = (word >> 30) & (uint32_t)(value != value);
    *going |= leaf ^ 1;
    return NODES(at * STRIDE) + ((((uint32_t)(value <= THRESHOLD(at)) | absent | leaf) & 1) ^ 1);
}

static void add_tree(int tree, const double *rows, int64_t n_rows, double *out)
{
    for (int64_t first = 0; first < n_rows; first += TOGETHER) {
        const int n = n_rows - first < TOGETHER ? (int)(n_rows - first) : TOGETHER;
        const double *own[TOGETHER];
        uint32_t at[TOGETHER], going = 1;
        for (int j = 0; j < TOGETHER; j++) {
            own[j] = rows + (first + (j < n ? j : n - 1)) * N_COLUMNS;
            at[j] = ROOTS(tree);
        }
        while (going) {
            going = 0;
            for (int j = 0; j < TOGETHER; j++)
                at[j] = step(at[j], own[j], &going);
        }
        for (int j = 0; j < n; j++)
            for (int k = 0; k < SAYS; k++)
                out[(first + j) * WIDTH + (WIDTH - SAYS) + k] += SAID((int64_t)NODES(at[j] * STRIDE + 2) * SAYS + k);
    }
}

static uint32_t row_at(const double *row)
{
    uint32_t at = ROOTS(0);
    while (!(NODES(at * STRIDE + 1) >> 31)) {
        const uint32_t word = NODES(at * STRIDE + 1);
        const double value = row[word & 0xffffff];
        at = NODES(at * STRIDE) + !(value <= THRESHOLD(at) || (value != value && (word >> 30 & 1)));
    }
    return NODES(at * STRIDE + 2);
}
"""
_SUM = """
static double sum_of(uint32_t at, const double *row)
{
    double total = 0.0;
    int is_known = 0;
    for (uint32_t k = TERM_START(at); k < TERM_START(at + 1); k++) {
        const double own = row[TERM(k)], product = WEIGHT(k) * (own == own ? own : COUNTS_AS(k));
        is_known |= own == own;
        total += product;
    }
    return is_known ? total : row[TERM(TERM_START(at))];
}
"""
_CHILD = """
static uint32_t child_of(uint32_t at, const double *row)
{
    const uint32_t left = NODES(at * STRIDE), word = NODES(at * STRIDE + 1);
    const uint32_t start = NODES(at * STRIDE + 2), n = NODES(at * STRIDE + 3);
    const double value = VALUE(at, word, row);
    int32_t way = -1;
    (void)start, (void)n;
    if (value == value) {
        switch (word >> 24) {
        case 1:
            way = !(value <= real(start, n));
            break;
"""
_VALUE = "\n#define VALUE(at, word, row) ((row)[(word) & 0xffffff])\n"
_VALUE_OR_SUM = """
#define VALUE(at, word, row) (TERM_START(at) < TERM_START((at) + 1) ? sum_of(at, row) : (row)[(word) & 0xffffff])
"""
_LEVELS = """\
        case 2: {
            uint32_t low = start, high = start + n;
            while (low < high) {
                const uint32_t middle = low + (high - low) / 2;
                if ((double)LEVEL(middle) < value)
                    low = middle + 1;
                else
                    high = middle;
            }
            way = !(low < start + n && (double)LEVEL(low) == value);
            break;
        }
"""
_CUTS = """\
        case 3:
            way = 0;
            for (uint32_t k = start; k < start + n; k++)
                way += CUT(k) < value;
"""
_CUTS_MAP = """\
            if (NODES(at * STRIDE + 6))
                way = (int32_t)BRANCH(NODES(at * STRIDE + 6) - 1 + (uint32_t)way);
"""
_MAP = """\
        case 4:
            if (value >= 0 && value < n)
                way = (int32_t)BRANCH(start + (uint32_t)value);
            break;
"""
_STAND_INS = """\
    for (uint32_t k = OTHER_START(at); way < 0 && k < OTHER_START(at + 1); k++) {
        const double other = row[OTHER_FEATURE(k)];
        const uint32_t first = OTHER_BRANCH_START(k);
        if (OTHER_IS_MAP(k)) {
            if (other >= 0 && other < OTHER_BRANCH_START(k + 1) - first)
                way = (int32_t)OTHER_BRANCH(first + (uint32_t)other);
        } else if (other == other)
            way = (other <= OTHER_THRESHOLD(k)) != (OTHER_BELOW(k) == 1);
    }
"""
_CHILD_END = """\
        }}
    }}
{stand_ins}    return way < 0 ? UINT32_MAX : left + (uint32_t)way;
}}
"""
_WALK = """
static uint32_t row_of(uint32_t at, const double *row)
{
    while (NODES(at * STRIDE + 1) >> 24) {
        uint32_t child = child_of(at, row);
        if (child == UINT32_MAX)
            child = NODES(at * STRIDE + 4);
        if (child == at)
            break;
        at = child;
    }
    return NODES(at * STRIDE + 5);
}

static uint32_t row_at(const double *row)
{
    return row_of(ROOTS(0), row);
}

static void said_by(uint32_t root, const double *row, double *own)
{
    const uint32_t from = row_of(root, row);
    for (int k = 0; k < SAYS; k++)
        own[k] = SAID((int64_t)from * SAYS + k);
}
"""
_PARTS = """
static void said_by(uint32_t root, const double *row, double *own)
{
    uint32_t waiting[WAITING];
    double parts[WAITING];
    int top = 1;
    waiting[0] = root, parts[0] = 1.0;
    for (int k = 0; k < SAYS; k++)
        own[k] = 0.0;
    while (top > 0) {
        const uint32_t at = waiting[--top];
        const double part = parts[top];
        if (!(NODES(at * STRIDE + 1) >> 24)) {
            for (int k = 0; k < SAYS; k++) {
                const double share = part * SAID((int64_t)NODES(at * STRIDE + 5) * SAYS + k);
                own[k] += share;
            }
            continue;
        }
        const uint32_t child = child_of(at, row);
        if (child != UINT32_MAX) {
            waiting[top] = child, parts[top++] = part;
            continue;
        }
        for (uint32_t k = NODES(at * STRIDE + 4); k >= NODES(at * STRIDE); k--)
            if (SHARE(k) > 0.0)
                waiting[top] = k, parts[top++] = part * SHARE(k);
    }
}
"""
_ADD = """
static void add_tree(int tree, const double *rows, int64_t n_rows, double *out)
{{
    double own[SAYS];
    for (int64_t i = 0; i < n_rows; i++) {{
        said_by(ROOTS(tree), rows + i * N_COLUMNS, own);
{votes}        for (int k = 0; k < {n_added}; k++)
            out[i * TOTALS + (TOTALS - {n_added}) + k] += own[k];
    }}
}}
"""
_LARGEST = """
static int32_t label_of(const double *shares, int n)
{
    int best = 0;
    for (int k = 1; k < n; k++)
        if (shares[k] > shares[best])
            best = k;
    return best;
}
"""
_LEAST = """
static int32_t label_of(const double *shares, int n)
{
    double costs[WIDTH];
    double least = 0.0;
    for (int k = 0; k < n; k++) {
        costs[k] = 0.0;
        for (int i = 0; i < n; i++)
            costs[k] += shares[i] * COSTS(i * n + k);
        if (k == 0 || costs[k] < least)
            least = costs[k];
    }
    for (int k = 0; k < n; k++)
        if (costs[k] <= least * (1.0 + 1e-09))
            return k;
    return 0;
}
"""
_TOTAL = """
static void total(const double *rows, int64_t n_rows, double *out)
{{
    const int64_t block = 8192;
    for (int64_t first = 0; first < n_rows; first += block) {{
        const int64_t n = n_rows - first < block ? n_rows - first : block;
        double *own = out + first * TOTALS;
        for (int64_t i = 0; i < n * TOTALS; i++)
            own[i] = {begin};
        for (int t = 0; t < N_TREES; t++)
            add_tree(t, rows + first * N_COLUMNS, n, own);
{rest}    }}
}}
"""
_MEAN = """\
        for (int64_t i = 0; i < n * TOTALS; i++)
            own[i] /= N_TREES;
"""
_SECOND = """\
        for (int64_t i = 0; i < n; i++)
            own[2 * i] = 1.0 - own[2 * i + 1];
"""
_PRIOR = """\
        for (int64_t i = 0; i < n; i++)
            for (int k = 0; k < WIDTH; k++)
                own[i * TOTALS + k] = (own[i * TOTALS + k] * own[i * TOTALS + WIDTH] + PRIOR(k))
                    / (own[i * TOTALS + WIDTH] + 1.0);
"""
_SURE = """\
        int best = 0;
        double most = own[0];
        for (int k = 1; k < WIDTH; k++)
            most = own[k] > most ? own[k] : most;
        while (!(own[best] >= most - {even!r}))
            best++;
        const double sure = (own[best] * own[WIDTH] + PRIOR(tree * WIDTH + best)) / (own[WIDTH] + 1.0);
        for (int k = 0; k < WIDTH; k++)
            own[k] = k == best ? sure : 0.0;
"""
_PREDICT_SHARES = """
void {name}_predict(const double *rows, int64_t n_rows, double *out)
{{
    total(rows, n_rows, out);
    for (int64_t i = 0; i < n_rows; i++) {{
        double sum = 0.0;
        for (int k = 0; k < WIDTH; k++)
            sum += out[i * WIDTH + k];
        for (int k = 0; k < WIDTH; k++)
            out[i * WIDTH + k] /= sum;
    }}
}}
"""
_PREDICT = """
void {name}_predict(const double *rows, int64_t n_rows, double *out)
{{
    total(rows, n_rows, out);
}}
"""
_PREDICT_PART = """
void {name}_predict(const double *rows, int64_t n_rows, double *out)
{{
    double own[TOTALS];
    for (int64_t i = 0; i < n_rows; i++) {{
        total(rows + i * N_COLUMNS, 1, own);
        for (int k = 0; k < WIDTH; k++)
            out[i * WIDTH + k] = own[k];
    }}
}}
"""
_LABELS = """
void {name}_labels(const double *rows, int64_t n_rows, int32_t *labels)
{{
    double own[CHUNK * TOTALS];
    for (int64_t first = 0; first < n_rows; first += CHUNK) {{
        const int64_t n = n_rows - first < CHUNK ? n_rows - first : CHUNK;
        total(rows + first * N_COLUMNS, n, own);
        for (int64_t i = 0; i < n; i++) {{
{labels}        }}
    }}
}}
"""
_LABELS_OF_LEAVES = """
void {name}_labels(const double *rows, int64_t n_rows, int32_t *labels)
{{
    for (int64_t i = 0; i < n_rows; i++) {{
        const uint32_t from = row_at(rows + i * N_COLUMNS);
        for (int o = 0; o < N_OUTPUTS; o++)
            labels[i * N_OUTPUTS + o] = (int32_t)LABEL(from * N_OUTPUTS + o);
    }}
}}
"""


def functions(found: ReadTrees, tables: LoopTables, name: str, *, is_quick: bool) -> str:
    """Return the functions of a source."""
    has_more = found.label_from > 0 or (found.prior is not None and not found.are_sure)
    totals = "SAYS" if has_more else "WIDTH"
    text = f"#define TOTALS {totals}\n"
    starts = np.cumsum([0, *found.columns.sizes]).tolist()
    own = list(zip(starts, found.columns.sizes, strict=False))
    if found.columns.classes is not None and tables.label is None:
        by_cost = found.rule is not None or isinstance(found.late_votes, LeastCost)
        text += _LEAST if by_cost else _LARGEST
    if found.late_votes is not None and isinstance(found.late_votes, LeastCost):
        text += _LARGEST.replace("label_of", "commonest_of")
    pick = "commonest_of" if isinstance(found.late_votes, LeastCost) else "label_of"
    if is_quick:
        text += _QUICK if tables.label is not None else _QUICK[: _QUICK.index("\nstatic uint32_t row_at")]
    else:
        text += (_SUM + _VALUE_OR_SUM if tables.has_sums else _VALUE) + _CHILD + _LEVELS * tables.has_levels
        if tables.has_cuts:
            text += _CUTS + _CUTS_MAP * tables.has_maps + "            break;\n"
        text += _MAP * tables.has_codes + _CHILD_END.format(stand_ins=_STAND_INS * tables.has_stand_ins)
        walk = _WALK
        if tables.label is None:
            begin, end = walk.index("\nstatic uint32_t row_at"), walk.index("\nstatic void said_by")
            walk = walk[:begin] + walk[end:]
        text += _PARTS if found.is_shared else walk
        votes = _SURE.format(even=EVEN) if found.are_sure else "" if found.late_votes is None else _votes(own)
        text += _ADD.format(votes=votes, n_added="WIDTH" if found.are_sure else "SAYS")
    rest = _MEAN * found.is_mean + _SECOND * found.says_second
    rest += _PRIOR * (found.prior is not None and not found.are_sure)
    text += _TOTAL.format(begin=repr(found.begin), rest=rest)
    text += (_PREDICT_PART if has_more else _PREDICT_SHARES if found.are_sure else _PREDICT).format(name=name)
    if found.columns.classes is None:
        return text
    if tables.label is not None:
        return text + _LABELS_OF_LEAVES.format(name=name)
    lines = "".join(
        f"            labels[(first + i) * N_OUTPUTS + {o}] ="
        f" {pick}(own + i * TOTALS + LABEL_FROM + {start}, {size});\n"
        f" {pick}(own + i * TOTALS + LABEL_FROM + {start}, {size});\n"
        for o, (start, size) in enumerate(own)
    )
    return text + _LABELS.format(name=name, labels=lines)


def _votes(own: list[tuple[int, int]]) -> str:
    lines = []
    for start, size in own:
        lines += [
            f"        const int32_t label_{start} = label_of(own + {start}, {size});\n",
            f"        for (int k = 0; k < {size}; k++)\n",
            f"            own[{start} + k] = k == label_{start};\n",
        ]
    return "".join(lines)
