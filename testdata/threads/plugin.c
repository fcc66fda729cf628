// A library that counts, opened by host.c or linked with it. Its slots are the caller's, from SLOTS / 2 on.
#include "truth.h"

void plugin_work(int slot, unsigned seed, long rounds);
void plugin_work(int slot, unsigned seed, long rounds) {
    struct slot *s = &truth()->slots[SLOTS / 2 + slot];
    s->process = (uint64_t)getpid();
    work(s, seed, rounds);
}
