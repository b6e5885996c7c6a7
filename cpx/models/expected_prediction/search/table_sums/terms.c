/* Terms of nodes; see terms.py. */

#include "cpx/models/expected_prediction/search/table_sums/tables.h"

KERNEL(cpx_models_expected_prediction_search_table_sums_terms_restrict) {
    const Terms *whole = &t->whole, *part = &t->part;
    int64_t at = 0, entries = 0;
    for (int64_t term = 0; term < whole->first.n; term++) {
        int64_t begin = whole->first.at[term], given = 0, mask = 0, size = 0, index = 0;
        for (int64_t i = 0; i < whole->size.at[term]; i++) {
            int64_t feature = whole->feature.at[begin + i];
            if (t->decided.at[feature] == FREE) {
                part->feature.at[at + size] = feature;
                part->origin.at[at + size] = begin + i;
                mask |= INT64_C(1) << i;
                size++;
            } else if (t->decided.at[feature] == IN)
                given |= INT64_C(1) << i;
        }
        part->first.at[term] = at;
        part->size.at[term] = size;
        part->start.at[term] = entries;
        const int64_t *from = whole->table.at + whole->start.at[term] + given;
        for (int64_t x = 0; x < INT64_C(1) << size; x++) {
            part->table.at[entries + x] = from[index];
            index = (index - mask) & mask;
        }
        at += size;
        entries += INT64_C(1) << size;
    }
}

KERNEL(cpx_models_expected_prediction_search_table_sums_terms_largest_gains) {
    const Terms *part = &t->part;
    for (int64_t j = 0; j < t->gains.n; j++)
        t->gains.at[j] = 0;
    for (int64_t term = 0; term < part->first.n; term++) {
        const int64_t *table = part->table.at + part->start.at[term];
        int64_t size = part->size.at[term];
        for (int64_t i = 0; i < size; i++) {
            int64_t step = INT64_C(1) << i, largest = table[step] - table[0];
            for (int64_t block = 0; block < INT64_C(1) << size; block += 2 * step)
                for (int64_t x = block; x < block + step; x++)
                    largest = max(largest, table[x + step] - table[x]);
            t->gains.at[part->feature.at[part->first.at[term] + i]] += largest;
        }
    }
}
