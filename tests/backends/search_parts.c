#include "cpx/models/monomial/search/pairs.h"

#include "tables.h"

KERNEL(tests_backends_search_parts_rank) { t->result = rank(&t->objective, t->c, t->lost); }

KERNEL(tests_backends_search_parts_low) {
    t->result = low(&t->objective, t->c_high, t->c_low, t->lost);
}

KERNEL(tests_backends_search_parts_most_bad) {
    t->result = most_bad(&t->objective, t->limit, t->lost);
}

KERNEL(tests_backends_search_parts_survey) {
    Survey seen =
        survey(t->covered, t->after.at, t->lost.at, t->kept.at, t->n, t->r, t->top.at);
    t->result_0 = seen.less;
    t->result_1 = seen.full;
    t->result_2 = seen.least;
    t->result_3 = seen.most;
    t->result_4 = seen.worst;
}

KERNEL(tests_backends_search_parts_pair_bounds) {
    pair_bounds(&t->objective, t->shared, &t->asking, t->slack.at, t->ids.at, t->covered,
                t->before, t->after.at, t->lost.at, t->n, t->front, t->most, t->r, t->limit,
                t->bounds.at);
}

KERNEL(tests_backends_search_parts_ask_first) {
    t->result = ask_first(&t->side, &t->spare, t->chosen.at, t->size, t->ids.at, t->kept.at, t->n,
                          t->room.at);
}

KERNEL(tests_backends_search_parts_weigh_child) {
    t->result = weigh_child(&t->levels, &t->scratch, t->level, &t->params);
}

KERNEL(tests_backends_search_parts_limit_all) {
    t->result = limit_all(&t->levels, &t->scratch, t->level, &t->params, t->limit);
}

KERNEL(tests_backends_search_parts_limit_kept) {
    limit_kept(&t->levels, &t->scratch, t->level, t->n, &t->objective, t->limit);
}

KERNEL(tests_backends_search_parts_drop_useless) { t->result = drop_useless(&t->scratch, t->n); }

KERNEL(tests_backends_search_parts_scan_pairs) {
    t->result = scan(t->table.at, t->height, t->rows, t->x, t->last, t->y, t->mosts.at,
                     t->limits.at, t->n);
}
