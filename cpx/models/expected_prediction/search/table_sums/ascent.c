/* The Lagrangian bound of a sum of tables, and the steps that improve it; see ascent.py. */

#include "cpx/models/expected_prediction/search/table_sums/tables.h"

static const double MOMENTUM = 0.6;

/* Steps without a better bound after which the factor of the steps is halved. */
enum { PATIENCE = 12 };

/* How much of its weight the disagreement of earlier steps keeps. */
static const double MEMORY = 0.9;

/* Return the first maximum of the bound; chosen is where it is. */
static int64_t term_by_term(const Terms *part, const Workspace *work) {
    int64_t *restrict values = work->values.at, total = 0;
    values[0] = 0;
    for (int64_t t = 0; t < part->first.n; t++) {
        const int64_t first = part->first.at[t], *restrict table =
                                                     part->table.at + part->start.at[t];
        int64_t done = 1, chosen = 0, best = table[0];
        for (int64_t i = first; i < first + part->size.at[t]; i++) {
            int64_t u = work->multiplier.at[i];
            for (int64_t x = 0; x < done; x++)
                values[done + x] = values[x] - u;
            done *= 2;
        }
        for (int64_t x = 1; x < done; x++)
            if (values[x] + table[x] > best)
                best = values[x] + table[x], chosen = x;
        work->chosen.at[t] = chosen;
        total += best;
    }
    return total;
}

/* Return the second maximum of the bound; picked is where it is. */
static int64_t by_price(const Terms *part, const Workspace *work, const uint8_t *decided,
                        int64_t room) {
    int64_t *price = work->price.at, *order = work->order.at, count = 0, total = 0;
    for (int64_t j = 0; j < work->price.n; j++) {
        price[j] = -work->cost.at[j];
        work->picked.at[j] = 0;
    }
    for (int64_t t = 0; t < part->first.n; t++)
        for (int64_t i = part->first.at[t]; i < part->first.at[t] + part->size.at[t]; i++)
            price[part->feature.at[i]] += work->multiplier.at[i];
    for (int64_t j = 0; j < work->price.n; j++) {
        int64_t y = count;
        if (decided[j] != FREE)
            continue;
        if (count <= room)
            count++;
        else if (price[order[room]] >= price[j])
            continue;
        else
            y = room;
        for (; y > 0 && price[order[y - 1]] < price[j]; y--)
            order[y] = order[y - 1];
        order[y] = j;
    }
    for (int64_t y = 0; y < min(count, room); y++)
        if (price[order[y]] > 0) {
            total += price[order[y]];
            work->picked.at[order[y]] = 1;
        }
    return total;
}

/* Return what the terms say of the features that the prices choose. */
static int64_t value_of_picked(const Terms *part, const Workspace *work) {
    int64_t total = 0;
    for (int64_t t = 0; t < part->first.n; t++) {
        const int64_t *feature = part->feature.at + part->first.at[t];
        int64_t x = 0;
        for (int64_t i = 0; i < part->size.at[t]; i++)
            if (work->picked.at[feature[i]])
                x |= INT64_C(1) << i;
        total += part->table.at[part->start.at[t] + x];
    }
    return total;
}

/* Return what the features cost that the prices choose. */
static int64_t cost_of_picked(const Workspace *work) {
    int64_t paid = 0;
    for (int64_t j = 0; j < work->cost.n; j++)
        if (work->picked.at[j])
            paid += work->cost.at[j];
    return paid;
}

/* Note where the multipliers are to go, and return its squared length. */
static double look_around(const Terms *part, const Workspace *work) {
    double *doubt = work->doubt.at, square = 0.0;
    for (int64_t j = 0; j < work->doubt.n; j++)
        doubt[j] *= MEMORY;
    for (int64_t t = 0; t < part->first.n; t++) {
        const int64_t *feature = part->feature.at + part->first.at[t];
        double *direction = work->direction.at + part->first.at[t];
        for (int64_t i = 0; i < part->size.at[t]; i++) {
            int64_t j = feature[i];
            double apart = (double)(work->chosen.at[t] >> i & 1) - (double)work->picked.at[j];
            doubt[j] += apart * apart;
            direction[i] = apart + MOMENTUM * direction[i];
            square += direction[i] * direction[i];
        }
    }
    return square;
}

/* Move the multipliers. */
static void step_by(const Terms *part, const Workspace *work, double length) {
    for (int64_t t = 0; t < part->first.n; t++)
        for (int64_t i = part->first.at[t]; i < part->first.at[t] + part->size.at[t]; i++) {
            int64_t limit = work->limit.at[i];
            double wanted = (double)work->multiplier.at[i] + length * work->direction.at[i];
            if (wanted >= (double)limit)
                work->multiplier.at[i] = limit;
            else if (wanted <= -(double)limit)
                work->multiplier.at[i] = -limit;
            else
                work->multiplier.at[i] = (int64_t)wanted;
        }
}

KERNEL(cpx_models_expected_prediction_search_table_sums_ascent_ascend) {
    const Terms *part = &t->part;
    const Workspace *work = &t->work;
    double *pace = work->pace.at; /* the factor of the steps, and those without a better bound */
    int64_t bound = t->before, met = t->known;
    for (int64_t step = 0; step <= t->steps; step++) {
        int64_t now = t->base + term_by_term(part, work);
        now += by_price(part, work, t->decided.at, t->room);
        int64_t said = value_of_picked(part, work), paid = cost_of_picked(work);
        if (said >= t->least && t->base + said - paid > met) {
            met = t->base + said - paid;
            memcpy(work->found.at, work->picked.at, (size_t)work->picked.n);
        }
        pace[1] += 1;
        if (now < bound) {
            bound = now;
            memcpy(work->best.at, work->multiplier.at, (size_t)work->best.n * sizeof(int64_t));
            pace[1] = 0;
            if (bound <= max(t->enough, met))
                break;
        }
        if (pace[1] > PATIENCE) {
            pace[0] *= 0.5;
            pace[1] = 0;
        }
        double square = look_around(part, work);
        if (square == 0.0 || step == t->steps)
            break;
        step_by(part, work, pace[0] * (double)(now - max(t->aim, met)) / square);
    }
    t->result_0 = bound;
    t->result_1 = met;
}

KERNEL(cpx_models_expected_prediction_search_table_sums_ascent_settle) {
    const Workspace *work = &t->work;
    const int64_t *price = work->price.at, *order = work->order.at;
    uint8_t *decided = t->decided.at;
    int64_t room = t->room, free = 0, count = 0;
    memcpy(work->multiplier.at, work->best.at, (size_t)work->best.n * sizeof(int64_t));
    by_price(&t->part, work, decided, room);
    for (int64_t j = 0; j < work->price.n; j++)
        free += decided[j] == FREE;
    /* The price of the best feature that is not picked, and what picking one more costs. */
    int64_t after = free > room ? max(0, price[order[room]]) : 0;
    int64_t last = free >= room && room > 0 ? max(0, price[order[room - 1]]) : 0;
    for (int64_t j = 0; j < work->price.n; j++) {
        if (decided[j] != FREE)
            continue;
        if (work->picked.at[j] && t->bound - price[j] + after <= t->enough) {
            decided[j] = IN;
            count++;
        } else if (!work->picked.at[j] && t->bound + price[j] - last <= t->enough) {
            decided[j] = OUT;
            count++;
        }
    }
    t->result = count;
}
