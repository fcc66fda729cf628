/* Modules whose counters lie as no linker would place them. The first argument says what becomes of the process. */
#include "p3_abi.h"
#include "p3_format.h"
#include "p3_profile.h"

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, WORDS = PAGE / 8, GAP = 2 };

/* Pages of counters: those of modules 1 to 3, which are side by side, a gap that is the program's, and those of 4 to 6. Number 7 has none. */
static uint64_t pages[1 + 2 + 1 + GAP + 1 + 1 + 1][WORDS] __attribute__((aligned(PAGE)));
enum { GAP_AT = 4 };
static const int FIRST[] = {0, 0, 1, 3, 6, 7, 8};

struct block {
    struct p3_raw_block header;
    struct p3_raw_function function;
};

#define BLOCK(i, n)                                                                                               \
    {{.magic = P3_BLOCK_MAGIC, .size = (1 + (n)) * PAGE, .kind = P3_BLOCK_MODULE, .module = i, .n_functions = 1, \
      .counters_offset = PAGE, .n_counters = (n) * WORDS}, {i, (n) ? P3_ARRAY : P3_HASH, (n) ? 2 : 1000, 0}}

static struct block blocks[] = {{{0}, {0, 0, 0, 0}}, BLOCK(1, 1), BLOCK(2, 2), BLOCK(3, 1), BLOCK(4, 1), BLOCK(5, 1), BLOCK(6, 1), BLOCK(7, 0)};

#define MODULE(i, at, n)                                                                                    \
    static struct p3_module module_##i = {.abi = P3_ABI, .copies = 1, .program = {7}, .block = &blocks[i].header, \
                                          .counters = (n) ? pages[at] : NULL, .counters_size = (n) * PAGE, .page = PAGE}
MODULE(1, 0, 1);
MODULE(2, 1, 2);
MODULE(3, 3, 1);
MODULE(4, 6, 1);
MODULE(5, 7, 1);
MODULE(6, 8, 1);
MODULE(7, 0, 0);

/* Number 6 is not listed. */
#define LIST(i) __attribute__((section("p3_modules"), used)) static struct p3_module *const list_##i = &module_##i
LIST(3);
LIST(5);
LIST(7);
LIST(1);
LIST(2);
LIST(4);

static uint32_t crc32(uint32_t crc, const void *data, size_t n) {
    const uint8_t *p = data;
    for (crc = ~crc; n-- > 0; p++)
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (((crc ^ *p >> bit) & 1) ? UINT32_C(0xedb88320) : 0);
    return ~crc;
}

static void count(int from, int to) {
    for (int f = from; f <= to; f++) {
        pages[FIRST[f]][0] += (uint64_t)f;
        pages[FIRST[f]][1]++;
    }
}

static void set_gap(int value) { memset(pages[GAP_AT], value, GAP * PAGE); }

/* What is not ours stays as it was. */
static void check_gap(int value) {
    const unsigned char *bytes = (const void *)pages[GAP_AT];
    for (int i = 0; i < GAP * PAGE; i++)
        if (bytes[i] != value)
            abort();
}

static void limit_files(rlim_t size) {
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = size;
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* Some modules count before they are registered. */
__attribute__((constructor(101))) static void construct(int argc, char **argv) {
    for (int i = 1; i <= 7; i++) {
        uint32_t crc = crc32(0, &blocks[i].header.size, offsetof(struct p3_raw_block, used) - 8);
        blocks[i].header.crc = crc32(crc, &blocks[i].function, sizeof blocks[i].function);
    }
    set_gap(5);
    count(2, 4);
    const char *way = argc > 1 ? argv[1] : "exit";
    if (strcmp(way, "memory") == 0)
        limit_files(0);
    setenv("P3_SIGNAL", "USR1", 1);
    setenv("P3_ON_SIGNAL", "rotate", 1);
    struct p3_module *all[] = {&module_4, &module_6, &module_1, &module_2, &module_3, &module_5, &module_7, &module_6};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        __p3_register(all[i]);
    limit_files(RLIM_INFINITY);
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "exit";
    check_gap(5);
    count(1, 1);
    count(5, 6);
    set_gap(6);
    if (strcmp(way, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(way, "reset") == 0)
        p3_profile_reset();
    if (strcmp(way, "rotate") == 0)
        raise(SIGUSR1);
    if (strcmp(way, "reset") == 0 || strcmp(way, "rotate") == 0)
        count(1, 6);
    if (strcmp(way, "fork") == 0 && fork() == 0) {
        check_gap(6);
        count(1, 6);
        set_gap(7);
        _exit(0);
    }
    while (wait(NULL) > 0)
        ;
    check_gap(6);
    return 0;
}
