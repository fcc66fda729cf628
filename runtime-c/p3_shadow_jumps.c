/* Jumps to addresses of blocks: which block of a native function a counting one goes on in.
 *
 * Calls: nothing.
 * In signal handlers: nothing is called. */
#include "p3_shadow.h"

static uint32_t slot_of(const struct p3_jumps *jumps, const void *address) {
    return (uint32_t)((uint64_t)(uintptr_t)address * P3_HASH_FACTOR >> (64 - jumps->bits));
}

/* One more than the number of a target; 0: there is none. Half of the slots at least are empty. */
static uint32_t find(const struct p3_jumps *jumps, const void *address, uint32_t *slot) {
    uint32_t mask = (UINT32_C(1) << jumps->bits) - 1;
    for (*slot = slot_of(jumps, address);; *slot = (*slot + 1) & mask) {
        uint32_t n = jumps->slots[*slot];
        if (n == 0 || jumps->targets[n - 1] == address)
            return n;
    }
}

/* Only shadows come here, which have one thread. */
uint32_t __p3_jump(const struct p3_jumps *jumps, const void *address) {
    uint32_t slot, n = find(jumps, address, &slot);
    if (n != 0)
        return n - 1;
    for (uint32_t i = 0; i < jumps->n; i++)
        if (find(jumps, jumps->targets[i], &slot) == 0)
            jumps->slots[slot] = i + 1;
    n = find(jumps, address, &slot);
    return n == 0 ? 0 : n - 1; /* no address of a block of that jump: anything may happen */
}
