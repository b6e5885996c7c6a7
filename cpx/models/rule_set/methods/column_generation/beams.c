/* Beams for seeds that are given; see beams.py. */

#include "cpx/models/rule_set/methods/column_generation/beams.h"

KERNEL(cpx_models_rule_set_methods_column_generation_beams__grow) {
    const Search *search = &t->search;
    if (search->at.at[SETS] == 0)
        begin(search);
    t->result = grow(search) ? DONE : GOING;
}
