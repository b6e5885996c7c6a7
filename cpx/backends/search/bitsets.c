#include "cpx/backends/search/bitsets.h"

#include "cpx/backends/search/tables.h"

KERNEL(cpx_backends_search_bitsets_count) {
    count(t->workspace.at, t->start, t->stride, t->bad_words, t->words, t->low, t->high, t->n,
          t->planes, t->cover.at, t->bad.at, t->good.at);
}

KERNEL(cpx_backends_search_bitsets_compress) {
    t->result_1 = compress(t->workspace.at, t->start, t->stride, t->bad_words, t->words,
                           t->columns.at, t->n, t->cover.at, t->to, t->to_stride, t->buffer.at,
                           t->moves.at, &t->result_0);
}
