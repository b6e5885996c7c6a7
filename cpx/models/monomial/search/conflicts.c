#include "cpx/backends/search/bitsets.h"
#include "cpx/models/monomial/search/bad_columns.h"
#include "cpx/models/monomial/search/bounds.h"

typedef struct cpx_models_monomial_search_conflicts_look Look;

/* A matrix in the workspace: that of all rows, or of those that some columns cover. */
typedef struct {
    int64_t start, bad_words, words;
} Rows;

#define TRIPLES(t, a, b) ROW((t)->triples, (a) * (t)->n + (b))
#define MARKS(t, a, b) ROW((t)->marks, (a) * (t)->n + (b))

/* So many words are counted while one of the candidates that are left is sorted and bounded. */
#define SORTED 32

/* ... and while the triples of eight sets of five are marked. */
#define MARKED 32

/* A word of a column of a table as scan in vectors.h reads it. */
#define WORD(table, height, y, w) (table)[((y) & -LANES) * (height) + (w) * LANES + ((y) & 7)]

/* Whether sets of five are marked, each looked at once: by its first three columns. */
INLINED bool in_fives(const Look *t) { return t->marks.n != 0; }

/* The columns from a place on that are in no conflict with a set, in `kept`; how many. */
INLINED int64_t candidates(const Look *t, const int64_t *set, int64_t from) {
    int64_t n = t->n, size = t->size, left = 0;
    const uint8_t *first = size == 1 ? ROW(t->pairs, set[0]) : TRIPLES(t, set[0], set[1]);
    const uint8_t *second = size == 3 ? TRIPLES(t, set[0], set[2]) : first;
    const uint8_t *third = size == 3 ? TRIPLES(t, set[1], set[2]) : first;
    for (int64_t p = from; p < n; p++) {
        t->kept.at[left] = p;
        bool chosen = p == set[0] || (size > 1 && p == set[1]) || (size > 2 && p == set[2]);
        left += (first[p] & second[p] & third[p]) != 0 && !chosen;
    }
    return left;
}

/* Write the rows that some columns cover to `cover`. */
INLINED void cover(const Look *t, const Rows *rows, const int64_t *columns, int64_t some) {
    int64_t stride = stride_of(t->n, t->planes);
    const uint64_t *row = t->workspace.at + rows->start;
    for (int64_t w = 0; w < rows->words; w++, row += stride) {
        uint64_t word = row[columns[0]];
        for (int64_t x = 1; x < some; x++)
            word &= row[columns[x]];
        t->cover.at[w] = word;
    }
}

/* Lay the bad samples of `cover` side by side, of the kept candidates and of the planes behind
   them, as scan in vectors.h reads them. */
INLINED void side_by_side(Look *t, const Rows *rows, int64_t columns, uint64_t *table,
                             int64_t height) {
    int64_t stride = stride_of(t->n, t->planes), filled = 0;
    const uint64_t *row = t->workspace.at + rows->start;
    clear(table, ((columns + LANES - 1) & -LANES) * height);
    for (int64_t w = 0; w < rows->bad_words; w++, row += stride) {
        if ((w & (LANES - 1)) == 0)
            prepare(t->cover.at + w, t->moves.at);
        if (t->cover.at[w] == 0)
            continue;
        gather(row, t->kept.at, columns, t->buffer.at);
        Moves own = moves_of(t->cover.at[w], t->moves.at, w & (LANES - 1));
        uint64_t *line = table + (filled >> 6) * LANES;
        for (int64_t y = 0; y < columns; y += LANES)
            squeeze(line + y * height, LANES, t->buffer.at + y, &own, filled & 63);
        filled += popcount(t->cover.at[w]);
    }
}

/* The bad weight that two columns of a table both cover. */
INLINED int64_t weight_of(const uint64_t *table, int64_t words, int64_t height, int64_t x,
                          int64_t y, int64_t first_plane, int64_t planes) {
    int64_t weight = 0;
    for (int64_t b = 0; b < planes; b++)
        for (int64_t w = 0; w < words; w++)
            weight += popcount(WORD(table, height, x, w) & WORD(table, height, y, w) &
                               WORD(table, height, first_plane + b, w))
                      << b;
    return weight;
}

/* What of the sets of five with three columns is marked: of each later column, whether it is no
   candidate (`out`), or that or its triples with two of the three are marked (`known`). */
typedef struct {
    uint8_t *out, *known;
} Marked;

INLINED Marked marked_with(const Look *t, const int64_t *set, int64_t left) {
    Marked all = {(uint8_t *)t->top.at, (uint8_t *)t->top.at + t->n};
    const uint8_t *ab = MARKS(t, set[0], set[1]), *ac = MARKS(t, set[0], set[2]);
    const uint8_t *bc = MARKS(t, set[1], set[2]);
    memset(all.out, 1, (size_t)t->n);
    for (int64_t y = 0; y < left; y++)
        all.out[t->kept.at[y]] = 0;
    for (int64_t q = set[2] + 1; q < t->n; q++)
        all.known[q] = all.out[q] | (ab[q] & ac[q] & bc[q]);
    return all;
}

/* Whether all sets of five with three columns, the candidate p and a later one are marked. */
INLINED bool all_marked(const Look *t, const int64_t *set, const Marked *known, int64_t p) {
    const uint8_t *a = MARKS(t, set[0], p), *b = MARKS(t, set[1], p), *c = MARKS(t, set[2], p);
    uint8_t all = known->known[p] & MARKS(t, set[0], set[1])[set[2]];
    for (int64_t q = p + 1; q < t->n && all != 0; q++)
        all &= known->out[q] | (known->known[q] & a[q] & b[q] & c[q]);
    return all != 0;
}

/* Mark the triples of a set of five, in increasing order. */
INLINED void mark_triples(const Look *t, const int64_t *set, int64_t p, int64_t q) {
    int64_t a = set[0], b = set[1], c = set[2];
    MARKS(t, a, b)[c] = MARKS(t, a, b)[p] = MARKS(t, a, c)[p] = MARKS(t, b, c)[p] = 1;
    MARKS(t, a, b)[q] = MARKS(t, a, c)[q] = MARKS(t, b, c)[q] = 1;
    MARKS(t, a, p)[q] = MARKS(t, b, p)[q] = MARKS(t, c, p)[q] = 1;
}

/* Whether two of the kept candidates, with the three columns of `cover`, may be better.

   What they cover is counted, and compared with the limit of each of them: see pairs.h. No sample
   weighs less than 1. Where sets of five are marked all these pairs are. */
static bool two_may(Look *t, const Rows *rows, const int64_t *set, int64_t left) {
    int64_t n = t->n, planes = t->planes, bad = 0, work = 0, x = 0, y = 0;
    int64_t *kept = t->kept.at, *mosts = t->lows_with.at, *limits = t->lows.at;
    bool fives = in_fives(t), any = false;
    Marked known = fives ? marked_with(t, set, left) : (Marked){NULL, NULL};
    for (int64_t w = 0; w < rows->bad_words; w++)
        bad += popcount(t->cover.at[w]);
    int64_t words = in_sevens(max(1, (bad + 63) >> 6)), height = words + 1;
    for (int64_t z = 0; z < left; z++) {
        limits[z] = most_bad(&t->objective, t->limit, t->lost.at[kept[z]]);
        bool done = fives && all_marked(t, set, &known, kept[z]);
        mosts[z] = done ? -1 : limits[z];
        work += done ? (n - kept[z]) / LANES : (left - z) * (4 + words) / LANES;
    }
    for (int64_t z = left; z < ((left + LANES - 1) & -LANES); z++)
        limits[z] = -1;
    for (int64_t b = 0; b < planes; b++)
        kept[left + b] = n + b;
    uint64_t *table = t->workspace.at + rows->start + (rows->words + 1) * stride_of(n, planes);
    side_by_side(t, rows, left + planes, table, height);
    t->result += words * left + work;
    while (x < left - 1) {
        int64_t block = scan(table, height, words, x, left - 1, y, mosts, limits, left);
        if (block == 0)
            break;
        x = block >> 32;
        y = (block >> 8) & ((1 << 24) - 1);
        t->result += MARKED;
        for (int64_t z = max(y, x + 1); z < min(y + LANES, left); z++) {
            const uint8_t *having = TRIPLES(t, kept[x], kept[z]);
            if (((block >> (z - y)) & 1) == 0 ||
                (having[set[0]] & having[set[1]] & having[set[2]]) == 0 ||
                weight_of(table, words, height, x, z, left, planes) > min(mosts[x], limits[z]))
                continue;
            if (!fives) {
                t->result -= work * (left - x) / left * (left - x) / left;
                return true;
            }
            mark_triples(t, set, kept[x], kept[z]);
            any = true;
        }
        y += LANES;
    }
    return any;
}

/* Look at a set, whose last columns are `some` more than all that the rows are covered by.

   The result is how many may be added to it, which are left in `kept`; -1 where a set below the
   limit is met. Where sets of five are marked only later ones are added. */
static int64_t look_at(Look *t, const Rows *rows, const int64_t *set, int64_t some) {
    int64_t n = t->n, size = t->size, r = t->k - size, bound;
    int64_t *covered = t->covered.at, *lost = t->lost.at, *kept = t->kept.at;
    bool later = in_fives(t);
    int64_t from = later ? set[2] & -LANES : 0;
    cover(t, rows, set + size - some, some);
    count(t->workspace.at, rows->start, stride_of(n, t->planes), rows->bad_words, rows->words,
          from, n, n, t->planes, t->cover.at, covered, lost);
    t->result += rows->words * (n - from);
    for (int64_t p = from; p < n; p++)
        lost[p] = t->good - lost[p];
    int64_t own = set[size - 1], bad = covered[own]; /* its own columns exclude no more */
    int64_t left = candidates(t, set, later ? own : 0);
    for (int64_t x = -1; x < left; x++) {
        int64_t p = x < 0 ? own : kept[x];
        if (cost(&t->objective, covered[p], lost[p]) >= t->limit)
            continue;
        t->found.at[0] = size + (x >= 0);
        for (int64_t y = 0; y < size; y++)
            t->found.at[1 + y] = set[y];
        t->found.at[1 + size] = p;
        return -1;
    }
    left = select_kept(&t->objective, bad, covered, lost, kept, left, r, t->limit, t->top.at);
    if (size == 3 && r == 2)
        return two_may(t, rows, set, left) ? left : 0;
    t->result += SORTED * left;
    return tighten(&t->objective, bad, covered, lost, kept, left, r, t->limit, t->top.at,
                   t->lows.at, t->lows_with.at, &bound);
}

/* Mark the columns that may be added to a set. */
INLINED const uint8_t *marked(Look *t, int64_t left) {
    uint8_t *mark = (uint8_t *)t->lows.at; /* free between two sets */
    memset(mark, 0, (size_t)t->n);
    for (int64_t x = 0; x < left; x++)
        mark[t->kept.at[x]] = 1;
    return mark;
}

INLINED void three_conflict(Look *t, int64_t a, int64_t b, int64_t c) {
    TRIPLES(t, a, b)[c] = TRIPLES(t, b, a)[c] = TRIPLES(t, a, c)[b] = 0;
    TRIPLES(t, c, a)[b] = TRIPLES(t, b, c)[a] = TRIPLES(t, c, b)[a] = 0;
}

/* The rows that two columns cover, side by side behind the matrix of all. */
INLINED Rows below(Look *t, const Rows *all, const int64_t *set) {
    int64_t stride = stride_of(t->n, t->planes);
    Rows rows = {all->words * stride, 0, 0};
    for (int64_t p = 0; p < t->n + t->planes; p++)
        t->kept.at[p] = p;
    cover(t, all, set, 2);
    rows.words = compress(t->workspace.at, 0, stride, all->bad_words, all->words, t->kept.at,
                          t->n + t->planes, t->cover.at, rows.start, stride, t->buffer.at,
                          t->moves.at, &rows.bad_words);
    return rows;
}

/* Look at the sets of three that begin with two; whether none below the limit was met. */
static bool three(Look *t, const Rows *all, int64_t *set) {
    Rows rows = below(t, all, set);
    for (set[2] = set[1] + 1; set[2] < t->n && t->result < t->most; set[2]++) {
        if (TRIPLES(t, set[0], set[1])[set[2]] == 0)
            continue;
        int64_t left = look_at(t, &rows, set, 1);
        if (left < 0)
            return false;
        if (left == 0 && !in_fives(t))
            three_conflict(t, set[0], set[1], set[2]);
    }
    return true;
}

/* Of a column that was looked at whole, as all before: what is in no marked set is in conflict. */
static void unmarked_conflict(Look *t, int64_t a) {
    for (int64_t b = a + 1; b < t->n; b++)
        for (int64_t c = b + 1; c < t->n; c++)
            if (MARKS(t, a, b)[c] == 0)
                three_conflict(t, a, b, c);
}

KERNEL(cpx_models_monomial_search_conflicts_look) {
    int64_t n = t->n, a = t->first, set[3] = {a, a + 1, 0};
    Rows all = {0, t->bad_words, t->words};
    t->result = 0;
    if (t->size == 1) {
        int64_t left = look_at(t, &all, set, 1);
        if (left < 0)
            return;
        const uint8_t *mark = marked(t, left);
        for (int64_t p = 0; p < n; p++)
            if (p != a)
                ROW(t->pairs, p)[a] = ROW(t->pairs, a)[p] &= mark[p];
        ROW(t->pairs, a)[a] = left > 0;
        return;
    }
    for (int64_t b = a + 1; b < n && t->result < t->most; b = ++set[1]) {
        if (ROW(t->pairs, a)[b] == 0)
            continue;
        if (t->size == 3) {
            if (!three(t, &all, set))
                return;
            continue;
        }
        int64_t left = look_at(t, &all, set, 2);
        if (left < 0)
            return;
        const uint8_t *mark = marked(t, left);
        for (int64_t p = 0; p < n; p++)
            if (mark[p] == 0)
                three_conflict(t, a, b, p);
        ROW(t->pairs, a)[b] = ROW(t->pairs, b)[a] = left > 0;
    }
    if (in_fives(t) && t->result < t->most)
        unmarked_conflict(t, a);
}
