/* Beams: sets of literals, grown by one literal at a time; see beams.py. */

#ifndef CPX_BEAMS_H
#define CPX_BEAMS_H

#include "cpx/compiled/vectors.h"
#include "cpx/models/rule_set/methods/column_generation/tables.h"

/* Work of choosing among the literals of a set, in words of samples. */
enum { CHOOSING = 4 };

/* Note the words in which a set covers something of one plane; return how many were noted. */
INLINED int64_t note(const Search *search, const uint64_t *cover, int64_t side, int64_t b,
                     int64_t noted) {
    const uint64_t *plane = ROW3(search->planes, side, b);
    for (int64_t w = 0; w < search->free.n; w++) {
        uint64_t mask = cover[w] & plane[w];
        search->rows.at[noted] = w;
        search->masks.at[noted] = mask;
        noted += mask != 0;
    }
    return noted;
}

/* Literals that are weighed together: what is read of a set serves all of them. */
enum { TOGETHER = 4 * LANES };

/* Add the samples that noted words and so many literals have in common. */
INLINED void add(const Search *search, int64_t j, int64_t number, int64_t first, int64_t last,
                 bool below, Vector *sums) {
    const uint64_t *bits = search->bits.at + j;
    const int64_t stride = search->bits.m;
    for (int64_t x = first; x < last; x++) {
        const uint64_t *words = bits + search->rows.at[x] * stride;
        Vector mask = splat(search->masks.at[x]);
        for (int64_t part = 0; part < number / WIDTH; part++) {
            Vector common = popcounts(load(words + part * WIDTH) & mask);
            sums[part] = below ? sums[part] - common : sums[part] + common;
        }
    }
}

/* Weigh so many literals from j on; `ends` are those of the words noted for each plane. */
INLINED void weigh_some(const Search *search, int64_t j, int64_t number, const int64_t *ends,
                        int64_t *scores) {
    Vector sums[TOGETHER / WIDTH];
    for (int64_t part = 0; part < number / WIDTH; part++)
        sums[part] = splat(0);
    for (int64_t x = 0; x < 2 * search->planes.m; x += 2) {
        for (int64_t part = 0; part < number / WIDTH; part++)
            sums[part] += sums[part];
        add(search, j, number, ends[x], ends[x + 1], true, sums);
        add(search, j, number, ends[x + 1], ends[x + 2], false, sums);
    }
    for (int64_t part = 0; part < number / WIDTH; part++)
        store((uint64_t *)scores + j + part * WIDTH, sums[part]);
}

/* Write what set s covers with each literal more; a literal of its own has the least number. */
static NOT_INLINED void weigh(const Search *search, int64_t s) {
    const int64_t size = search->at.at[SIZE], planes = search->planes.m;
    const uint64_t *cover = ROW3(search->covers, size & 1, s);
    int64_t *scores = ROW(search->scores, s), ends[2 * 64 + 1] = {0}, noted = 0, j = 0;
    for (int64_t b = planes - 1, x = 0; b >= 0; b--)
        for (int64_t side = 1; side >= 0; side--)
            ends[++x] = noted = note(search, cover, side, b, noted);
    for (; j + TOGETHER <= search->bits.m; j += TOGETHER)
        weigh_some(search, j, TOGETHER, ends, scores);
    for (; j < search->bits.m; j += LANES)
        weigh_some(search, j, LANES, ends, scores);
    const int32_t *set = ROW3(search->sets, size & 1, s);
    for (int64_t x = 0; x < size; x++)
        scores[set[x]] = INT64_MIN;
    search->at.at[WORK] += (noted + CHOOSING) * (search->bits.m / LANES);
}

/* A bit for each of eight literals: whether it is true of a sample, with a greater score. */
INLINED uint64_t greater(const uint64_t *words, int64_t place, const int64_t *scores,
                         int64_t least) {
    uint64_t bits = 0;
    for (int part = 0; part < PARTS; part++) {
        Vector has = (load(words + part * WIDTH) >> place) & splat(1);
        uint64_t truth = at_most(splat(0) - has, splat((uint64_t)-1));
        Vector score = load((const uint64_t *)scores + part * WIDTH);
        bits |= (truth & ~at_most(score, splat((uint64_t)least))) << (part * WIDTH);
    }
    return bits;
}

/* Find the extensions of a beam with the greatest different scores, the greatest first: their
   places in the table of scores. Return how many there are. */
static NOT_INLINED int64_t extend(const Search *search, int64_t beam) {
    const int64_t stride = search->bits.m, width = search->beams.m;
    const int64_t seed = search->seeds.at[beam];
    const uint64_t *own = ROW(search->bits, seed >> 6);
    const int64_t *score = search->scores.at;
    int64_t *best = search->best.at, filled = 0, least = INT64_MIN;
    for (int64_t b = 0; b < width; b++) {
        int64_t s = ROW(search->beams, beam)[b];
        if (s < 0)
            break;
        for (int64_t j = 0; j < stride; j += LANES)
            for (uint64_t bits = greater(own + j, seed & 63, score + s * stride + j, least); bits;
                 bits &= bits - 1) {
                int64_t y = s * stride + j + lowest_place(bits), x = filled;
                if (score[y] <= least)
                    continue;
                while (x > 0 && score[y] > score[best[x - 1]])
                    x--;
                if (x > 0 && score[y] == score[best[x - 1]])
                    continue;
                filled = min(filled + 1, width);
                for (int64_t z = filled - 1; z > x; z--)
                    best[z] = best[z - 1];
                best[x] = y;
                if (filled == width)
                    least = score[best[width - 1]];
            }
    }
    return filled;
}

/* Grow sets by the best literals of each beam; return how many different ones there are. */
static NOT_INLINED int64_t choose(const Search *search) {
    int64_t *at = search->at.at, size = at[SIZE], grown = 0;
    const int64_t stride = search->bits.m, width = search->beams.m, new = 1 - (size & 1);
    int32_t *parents = ROW(search->grown, 0), *added = ROW(search->grown, 1);
    for (int64_t beam = 0; beam < at[SEEDS]; beam++) {
        int32_t *places = ROW(search->beams, beam);
        int64_t filled = extend(search, beam);
        for (int64_t b = 0; b < filled; b++) {
            int32_t parent = (int32_t)(search->best.at[b] / stride);
            int32_t j = (int32_t)(search->best.at[b] % stride);
            const int32_t *old = ROW3(search->sets, size & 1, parent);
            int32_t *set = ROW3(search->sets, new, grown);
            int64_t x = 0, place = 0;
            for (; x < size && old[x] < j; x++)
                set[x] = old[x];
            set[x] = j;
            for (; x < size; x++)
                set[x + 1] = old[x];
            while (memcmp(ROW3(search->sets, new, place), set, (size_t)(size + 1) * 4) != 0)
                place++;
            if (place == grown) {
                int32_t *found = ROW(search->found, at[FOUND]);
                for (x = 0; x < search->found.m; x++)
                    found[x] = x <= size ? set[x] : -1;
                search->values.at[at[FOUND]++] = search->scores.at[search->best.at[b]];
                parents[place] = parent;
                added[place] = j;
                grown++;
            }
            places[b] = (int32_t)place;
        }
        for (int64_t b = filled; b < width; b++)
            places[b] = -1;
    }
    return grown;
}

/* Note what the grown sets cover. */
INLINED void cover(const Search *search) {
    const int64_t size = search->at.at[SIZE], stride = search->bits.m;
    for (int64_t s = 0; s < search->at.at[SETS]; s++) {
        const uint64_t *old = ROW3(search->covers, 1 - (size & 1), ROW(search->grown, 0)[s]);
        const uint64_t *column = search->bits.at + ROW(search->grown, 1)[s];
        uint64_t *new = ROW3(search->covers, size & 1, s);
        for (int64_t w = 0; w < search->free.n; w++)
            new[w] = old[w] & column[w * stride];
    }
}

/* Begin with the set of no literal. */
INLINED void begin(const Search *search) {
    int64_t *at = search->at.at;
    at[SIZE] = at[NEXT] = at[FOUND] = 0;
    at[SETS] = 1;
    for (int64_t beam = 0; beam < at[SEEDS]; beam++)
        for (int64_t b = 0; b < search->beams.m; b++)
            ROW(search->beams, beam)[b] = b == 0 ? 0 : -1;
    memcpy(search->covers.at, search->free.at, (size_t)search->free.n * sizeof(uint64_t));
}

/* Go on until the sets have their full size, or the work is done; tell which. */
static NOT_INLINED bool grow(const Search *search) {
    int64_t *at = search->at.at;
    while (at[SIZE] < search->sets.l && at[SETS] > 0) {
        for (; at[NEXT] < at[SETS]; at[NEXT]++) {
            if (at[WORK] >= at[BUDGET])
                return false;
            weigh(search, at[NEXT]);
        }
        at[SETS] = choose(search);
        at[NEXT] = 0;
        if (++at[SIZE] < search->sets.l)
            cover(search);
    }
    return true;
}

#endif
