/* Beams: what sets of literals cover with one literal more; see beams.py. */

#include <math.h>

#include "cpx/models/rule_set/methods/column_generation/tables.h"

KERNEL(cpx_models_rule_set_methods_column_generation_beams__weigh) {
    const Notes *notes = &t->notes;
    const Search *search = &t->search;
    const int64_t size = search->at.at[0], sets = search->at.at[1], d = notes->bases.n;
    const int64_t first = search->at.at[2], last = search->at.at[3];
    const int64_t *starts = notes->starts.at;
    const int32_t *codes = notes->codes.at;
    for (int64_t s = 0; s < sets; s++) {
        const uint64_t *cover = ROW3(search->covers, size & 1, s);
        double *sums = search->sums.at + s * (2 * d + 1), total = 0;
        if (first == 0)
            memset(sums, 0, (size_t)(2 * d + 1) * sizeof *sums);
        for (int64_t w = first; w < last; w++)
            for (uint64_t word = cover[w]; word != 0; word &= word - 1) {
                int64_t i = 64 * w + lowest_place(word);
                double weight = search->weights.at[i];
                total += weight;
                for (int64_t x = starts[i]; x < starts[i + 1]; x++)
                    sums[codes[x]] += weight;
            }
        sums[2 * d] += total;
    }
}

/* Turn the sums of notes into those of literals; a literal of the set itself has none. */
static void score(const Notes *notes, const Search *search, int64_t size, int64_t s) {
    const int64_t d = notes->bases.n, *bases = notes->bases.at;
    double *sums = search->sums.at + s * (2 * d + 1), total = sums[2 * d];
    float *scores = ROW(search->scores, s);
    const int32_t *set = ROW3(search->sets, size & 1, s);
    for (int64_t j = 0; j < d; j++) {
        double sum = sums[j] - sums[d + j];
        if (bases[j] == EVERYTHING)
            sum += total;
        else if (bases[j] != NOTHING)
            sum += bases[j] & 1 ? total - sums[bases[j] >> 1] : sums[bases[j] >> 1];
        sums[j] = sum;
        scores[j] = (float)sum;
    }
    for (int64_t x = 0; x < size; x++)
        scores[set[x]] = -INFINITY;
}

/* Find the extensions of a beam with the greatest different scores, the greatest first: for each
   d times the place of the set, plus the literal. Return how many there are. */
static int64_t extend(const Notes *notes, const Search *search, int64_t beam) {
    const int64_t d = notes->bases.n, width = search->beams.m;
    const uint8_t *allowed = ROW(search->allowed, beam);
    int64_t *best = search->best.at, filled = 0;
    float least = -INFINITY;
    for (int64_t b = 0; b < width; b++) {
        int64_t s = ROW(search->beams, beam)[b];
        if (s < 0)
            break;
        const float *scores = ROW(search->scores, s);
        for (int64_t j = 0; j < d; j++) {
            float score = scores[j];
            if (score <= least || !allowed[j])
                continue;
            int64_t x = filled;
            while (x > 0 && score > search->scores.at[best[x - 1]])
                x--;
            if (x > 0 && score == search->scores.at[best[x - 1]])
                continue;
            filled = min(filled + 1, width);
            for (int64_t y = filled - 1; y > x; y--)
                best[y] = best[y - 1];
            best[x] = s * d + j;
            if (filled == width)
                least = search->scores.at[best[width - 1]];
        }
    }
    return filled;
}

KERNEL(cpx_models_rule_set_methods_column_generation_beams__choose) {
    const Notes *notes = &t->notes;
    const Search *search = &t->search;
    const int64_t size = search->at.at[0], sets = search->at.at[1], d = notes->bases.n;
    const int64_t width = search->beams.m, new = 1 - (size & 1);
    int32_t *parents = ROW(search->grown, 0), *added = ROW(search->grown, 1);
    int64_t grown = 0;
    for (int64_t s = 0; s < sets; s++)
        score(notes, search, size, s);
    for (int64_t beam = 0; beam < search->beams.n; beam++) {
        int32_t *places = ROW(search->beams, beam);
        int64_t filled = extend(notes, search, beam);
        for (int64_t b = 0; b < filled; b++) {
            int32_t parent = (int32_t)(search->best.at[b] / d);
            int32_t j = (int32_t)(search->best.at[b] % d);
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
                parents[place] = parent;
                added[place] = j;
                search->values.at[place] = search->scores.at[search->best.at[b]];
                grown++;
            }
            places[b] = (int32_t)place;
        }
        for (int64_t b = filled; b < width; b++)
            places[b] = -1;
    }
    t->result = grown;
}

KERNEL(cpx_models_rule_set_methods_column_generation_beams__cover) {
    const Search *search = &t->search;
    const int64_t size = search->at.at[0], sets = search->at.at[1];
    for (int64_t s = 0; s < sets; s++) {
        const uint64_t *old = ROW3(search->covers, size & 1, ROW(search->grown, 0)[s]);
        const uint64_t *column = ROW(t->notes.columns, ROW(search->grown, 1)[s]);
        uint64_t *cover = ROW3(search->covers, 1 - (size & 1), s);
        for (int64_t w = search->at.at[2]; w < search->at.at[3]; w++)
            cover[w] = old[w] & column[w];
    }
}
