/* What the library was made from, and whether this processor has the instructions it was made for. */

#include "cpx/compiled/kernel.h"

EXPORT const char *const cpx_sources = CPX_SOURCES;

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

#if defined(__AVX512F__)
#define LEVEL 4
#elif defined(__AVX2__)
#define LEVEL 3
#elif defined(__POPCNT__)
#define LEVEL 2
#else
#define LEVEL 1
#endif

#define BIT(n) (1u << (n))

/* Whether all bits of a mask are there. */
#define ALL(word, mask) (((word) & (mask)) == (mask))

EXPORT int cpx_runs_here(void) {
    unsigned a = 0, b = 0, c = 0, d = 0, state = 0;
    __get_cpuid(1, &a, &b, &c, &d);
    unsigned c1 = c;
    b = c = 0;
    __get_cpuid_count(7, 0, &a, &b, &c, &d);
    unsigned b7 = b, c7 = c;
    c = 0;
    __get_cpuid(0x80000001, &a, &b, &c, &d);
    if (c1 & BIT(27)) /* the system tells which registers it keeps */
        __asm__("xgetbv" : "=a"(state), "=d"(d) : "c"(0));
    /* ssse3, sse4.1, sse4.2, popcnt */
    if (LEVEL >= 2 && !ALL(c1, BIT(9) | BIT(19) | BIT(20) | BIT(23)))
        return 0;
    /* fma, movbe, avx, f16c; bmi, avx2, bmi2; lzcnt */
    if (LEVEL >= 3 && !(ALL(c1, BIT(12) | BIT(22) | BIT(28) | BIT(29)) && ALL(state, 6u) &&
                        ALL(b7, BIT(3) | BIT(5) | BIT(8)) && ALL(c, BIT(5))))
        return 0;
    /* avx512f, dq, cd, bw, vl; vpopcntdq */
    return LEVEL < 4 || (ALL(b7, BIT(16) | BIT(17) | BIT(28) | BIT(30) | BIT(31)) &&
                         ALL(c7, BIT(14)) && ALL(state, 0xE6u));
}
#else
EXPORT int cpx_runs_here(void) { return 1; }
#endif
