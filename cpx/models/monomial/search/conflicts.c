#include "cpx/backends/search/bitsets.h"
#include "cpx/models/monomial/search/bounds.h"

typedef struct cpx_models_monomial_search_conflicts_look Look;

/* A matrix in the workspace: that of all rows, or of those that some columns cover. */
typedef struct {
    int64_t start, bad_words, words;
} Rows;

#define TRIPLES(t, a, b) ROW((t)->triples, (a) * (t)->n + (b))

/* So many words are counted while one of the candidates that are left is sorted and bounded. */
#define SORTED 32

/* The columns that are not in conflict with a set, in `kept`; the result is how many. */
INLINED int64_t candidates(const Look *t, const int64_t *set) {
    int64_t n = t->n, size = t->size, left = 0;
    const uint8_t *first = size == 1 ? ROW(t->pairs, set[0]) : TRIPLES(t, set[0], set[1]);
    const uint8_t *second = size == 3 ? TRIPLES(t, set[0], set[2]) : first;
    const uint8_t *third = size == 3 ? TRIPLES(t, set[1], set[2]) : first;
    for (int64_t p = 0; p < n; p++) {
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

/* Whether two of the kept candidates, with the set of `cover`, may cost less than the limit.

   What they cover is counted, and compared with the limit of each of them: see pairs.h. */
static bool two_may(Look *t, const Rows *rows, const int64_t *set, int64_t left) {
    int64_t n = t->n, planes = t->planes, stride = stride_of(n, planes), *both = t->both.at;
    int64_t *kept = t->kept.at, to = rows->start + (rows->words + 1) * stride, narrow, filled;
    int64_t *mosts = t->lows_with.at;
    for (int64_t b = 0; b < planes; b++)
        kept[left + b] = n + b;
    narrow = stride_of(left, planes);
    compress(t->workspace.at, rows->start, stride, rows->bad_words, rows->bad_words, kept,
             left + planes, t->cover.at, to, narrow, t->buffer.at, t->moves.at, &filled);
    for (int64_t y = 0; y < left; y++)
        mosts[y] = most_bad(&t->objective, t->limit, t->lost.at[kept[y]]);
    for (int64_t x = 0; x < left - 1; x++) {
        bool some = false;
        for (int64_t w = 0; w < filled; w++)
            t->narrow.at[w] = t->workspace.at[to + w * narrow + x];
        count(t->workspace.at, to, narrow, filled, filled, x + 1, left, left, planes,
              t->narrow.at, both, t->lows.at);
        t->result += filled * (left - x);
        for (int64_t y = x + 1; y < left; y++)
            some |= both[y] <= min(mosts[x], mosts[y]);
        for (int64_t y = x + 1; some && y < left; y++) {
            const uint8_t *having = TRIPLES(t, kept[x], kept[y]);
            if (both[y] <= min(mosts[x], mosts[y]) &&
                (having[set[0]] & having[set[1]] & having[set[2]]) != 0)
                return true;
        }
    }
    return false;
}

/* Look at a set, whose last columns are `some` more than all that the rows are covered by.

   The result is how many may be added to it, which are left in `kept`; -1 where a set below the
   limit is met. */
static int64_t look_at(Look *t, const Rows *rows, const int64_t *set, int64_t some) {
    int64_t n = t->n, size = t->size, r = t->k - size, bound;
    int64_t *covered = t->covered.at, *lost = t->lost.at, *kept = t->kept.at;
    cover(t, rows, set + size - some, some);
    count(t->workspace.at, rows->start, stride_of(n, t->planes), rows->bad_words, rows->words, 0,
          n, n, t->planes, t->cover.at, covered, lost);
    t->result += rows->words * n;
    for (int64_t p = 0; p < n; p++)
        lost[p] = t->good - lost[p];
    int64_t bad = covered[set[0]], left = candidates(t, set);
    for (int64_t x = -1; x < left; x++) {
        int64_t p = x < 0 ? set[0] : kept[x]; /* its own columns exclude no more */
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
        if (left == 0)
            three_conflict(t, set[0], set[1], set[2]);
    }
    return true;
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
}
