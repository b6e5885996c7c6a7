#include "cpx/models/monomial/search/bounds.h"

KERNEL(cpx_models_monomial_search_bounds_select) {
    t->result = select_kept(&t->objective, t->covered, t->after.at, t->lost.at, t->kept.at, t->n, t->r,
                       t->limit, t->top.at);
}

KERNEL(cpx_models_monomial_search_bounds_tighten) {
    t->result_0 = tighten(&t->objective, t->covered, t->after.at, t->lost.at, t->kept.at, t->n,
                          t->r, t->limit, t->top.at, t->lows.at, t->lows_with.at, &t->result_1);
}

KERNEL(cpx_models_monomial_search_bounds_subtree_bounds) {
    subtree_bounds(&t->objective, t->covered, t->after.at, t->lost.at, t->kept.at, t->n, t->r,
                   t->bounds.at);
}

KERNEL(cpx_models_monomial_search_bounds_order_by) { order_by(t->keys.at, t->items.at, t->n, NULL); }
