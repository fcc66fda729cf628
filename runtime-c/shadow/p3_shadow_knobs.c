// SPDX-License-Identifier: MIT OR Apache-2.0
/* What P3_SHADOW says.
 *
 * Calls: nothing.
 * In signal handlers: nothing is called. */
#include "p3_shadow.h"

#ifdef P3_SHADOWS

#include <stdlib.h>
#include <string.h>

/* A number with a unit: k, M, G, s, ms, or %. */
static double number(const char *text, char **end) {
    double value = strtod(text, end), unit = 1;
    if (strncmp(*end, "ms", 2) == 0)
        unit = 1e-3, *end += 2;
    else if (**end != 0 && strchr("%kMGs", **end) != NULL) {
        unit = **end == '%' ? 1e-2 : **end == 'k' ? 1e3 : **end == 'M' ? 1e6 : **end == 'G' ? 1e9 : 1;
        ++*end;
    }
    return value * unit;
}

static int set(struct p3_shadow_knobs *knobs, const char *name, size_t length, double value) {
    if (length == 4 && memcmp(name, "load", 4) == 0 && value > 0 && value <= P3_SHADOWS_MOST)
        knobs->load = value;
    else if (length == 4 && memcmp(name, "cost", 4) == 0 && value > 0 && value <= 1)
        knobs->cost = value;
    else if (length == 5 && memcmp(name, "burst", 5) == 0 && value >= 1000 && value < 1e15)
        knobs->burst = knobs->longest = (int64_t)value;
    else if (length == 5 && memcmp(name, "limit", 5) == 0 && value >= 0.001 && value < 1e6)
        knobs->limit = (uint64_t)(value * 1e9);
    else if (length == 6 && memcmp(name, "signal", 6) == 0 && value >= 1 && value <= 64)
        knobs->signal = (int)value;
    else
        return 0;
    return 1;
}

int p3_shadow_read_knobs(struct p3_shadow_knobs *knobs, const char *text) {
    if (text == NULL || *text == 0)
        return 1;
    if (strcmp(text, "off") == 0) {
        knobs->off = 1;
        return 1;
    }
    for (;;) {
        const char *equals = strchr(text, '=');
        char *end;
        if (equals == NULL)
            return 0;
        double value = number(equals + 1, &end);
        if (end == equals + 1 || !set(knobs, text, (size_t)(equals - text), value) || (*end != 0 && *end != ','))
            return 0;
        if (*end == 0)
            return 1;
        text = end + 1;
    }
}

#else
typedef int p3_no_shadows;
#endif
