/* Written by python -m cpx.compiled.tables from the declarations in Python. */

#ifndef CPX_MODELS_SUFFICIENT_REASON_METHODS_TABLES_H
#define CPX_MODELS_SUFFICIENT_REASON_METHODS_TABLES_H

#include "cpx/compiled/kernel.h"

/* cpx.models.sufficient_reason.methods.deletion_kernels */

struct cpx_models_sufficient_reason_methods_deletion_kernels__drop {
    Ints starts;
    Ints leaves;
    Ints tree;
    Ints2 losses;
    Ints slacks;
    Ints order;
    Ints times;
    Ints2 worst;
    Ints total;
    Ints2 undo;
    Bytes kept;
    int64_t result;
};

#endif
