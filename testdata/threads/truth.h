// What a program with threads counts itself: each thread, in a slot of its own in a file that outlives the process. The
// functions at the end count nothing but their slot, and `step`, `walk` and `many` are what a profile is compared for.
#ifndef TRUTH_H
#define TRUTH_H
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLOTS = 2048, TABLES = 16, IDS = 8192 };

// 128 bytes: no two threads write to one cache line.
struct slot {
    volatile uint64_t process, step[4], walk[8], pad[3];
};

struct truth {
    volatile uint64_t used, pad[511];
    struct slot slots[SLOTS];
    volatile uint64_t many[TABLES][IDS];
};

#define ARM(n) __asm__ volatile("# arm " #n)

// Four paths: by n & 1 and n % 3 == 0.
static __attribute__((noinline)) void step(unsigned n) {
    if (n & 1)
        ARM(1);
    else
        ARM(2);
    if (n % 3 == 0)
        ARM(3);
    else
        ARM(4);
}

// A loop with n + 1 iterations of two kinds: eight paths.
static __attribute__((noinline)) void walk(int n) {
    do {
        if (n & 1)
            ARM(5);
        else
            ARM(6);
    } while (n-- > 0);
}

#define BIT(k) \
    if (n >> k & 1) \
        ARM(7); \
    else \
        ARM(8);

// 8,192 paths of 4,194,304, more than arrays are made for: the upper bits are never set.
static __attribute__((noinline, unused)) void many(unsigned n) {
    __asm__("" : "+r"(n)); // the compiler is not to know
    BIT(0) BIT(1) BIT(2) BIT(3) BIT(4) BIT(5) BIT(6) BIT(7) BIT(8) BIT(9) BIT(10) BIT(11) BIT(12)
    BIT(13) BIT(14) BIT(15) BIT(16) BIT(17) BIT(18) BIT(19) BIT(20) BIT(21)
}

static __attribute__((noinline)) struct truth *truth(void) {
    static struct truth *all;
    struct truth *now = __atomic_load_n(&all, __ATOMIC_ACQUIRE);
    if (now)
        return now;
    int file = open(getenv("TRUTH"), O_RDWR | O_CREAT, 0644);
    if (file < 0 || ftruncate(file, sizeof(struct truth)) != 0)
        abort();
    void *mapped = mmap(0, sizeof(struct truth), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED)
        abort();
    close(file);
    // Whoever is second maps it twice, which does no harm.
    __atomic_store_n(&all, (struct truth *)mapped, __ATOMIC_RELEASE);
    return (struct truth *)mapped;
}

// A slot that no other thread has.
static __attribute__((noinline, unused)) struct slot *take_slot(void) {
    uint64_t at = __atomic_fetch_add(&truth()->used, 1, __ATOMIC_SEQ_CST);
    if (at >= SLOTS)
        abort();
    truth()->slots[at].process = (uint64_t)getpid();
    return &truth()->slots[at];
}

// One call of each, written down when it is over.
static __attribute__((noinline)) void once(struct slot *s, unsigned n) {
    step(n);
    int at = (n & 1) + (n % 3 == 0) * 2;
    s->step[at] = s->step[at] + 1;
    int left = (int)(n % 5), is_first = 1, goes_on;
    walk(left);
    do {
        int odd = left & 1;
        goes_on = left-- > 0;
        at = is_first * 4 + odd * 2 + goes_on;
        s->walk[at] = s->walk[at] + 1;
        is_first = 0;
    } while (goes_on);
}

static __attribute__((noinline, unused)) unsigned work(struct slot *s, unsigned seed, long rounds) {
    for (long i = 0; i < rounds; i++) {
        seed = seed * 1103515245u + 12345u;
        once(s, seed >> 16);
    }
    return seed;
}

// `table`: one of TABLES, which no other thread has.
static __attribute__((noinline, unused)) void work_hashed(int table, unsigned seed, long rounds) {
    volatile uint64_t *counts = truth()->many[table];
    for (long i = 0; i < rounds; i++) {
        seed = seed * 1103515245u + 12345u;
        unsigned n = seed >> 16 & (seed & 1 << 15 ? IDS - 1 : 63);
        many(n);
        counts[n] = counts[n] + 1;
    }
}
#endif
