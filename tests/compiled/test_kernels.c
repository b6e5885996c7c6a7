#include "cpx/compiled/vectors.h"

#include "tables.h"

KERNEL(tests_compiled_test_kernels_everything) {
    int64_t total = 0;
    for (int64_t x = 0; x < t->table.n; x++)
        for (int64_t y = 0; y < t->table.m; y++)
            for (int64_t z = 0; z < t->table.l; z++)
                if (t->flags.at[y])
                    total += ROW3(t->table, x, y)[z] * (x + 1);
    for (int64_t x = 0; x < t->pair.size; x++)
        t->pair.items.at[x] += t->up ? t->factor : -t->factor;
    t->result_0 = total + (int64_t)(2 * t->half);
    t->result_1 = t->up;
    t->result_2 = t->pair.items.n;
}

KERNEL(tests_compiled_test_kernels_any_above) {
    t->result = false;
    for (int64_t x = 0; x < t->items.n; x++)
        t->result |= t->items.at[x] > t->least;
}

KERNEL(tests_compiled_test_kernels_arithmetic) {
    t->result_0 = floor_divide(t->a, t->b);
    t->result_1 = min(t->a, t->b);
    t->result_2 = max(t->a, t->b);
}

KERNEL(tests_compiled_test_kernels_popcounts_of) {
    for (int64_t x = 0; x < t->words.n; x++)
        t->counts.at[x] = popcount(t->words.at[x]);
    for (int64_t x = 0; x < t->words.n; x += WIDTH)
        store((uint64_t *)t->by_vectors.at + x, popcounts(load(t->words.at + x)));
}
