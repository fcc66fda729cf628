// SPDX-License-Identifier: MIT OR Apache-2.0
/* Jumps to addresses of blocks: which block of a native function a counting one goes on in.
 *
 * Calls: p3_shadow_record.c.
 * In signal handlers: nothing is called. */
#include "p3_shadow.h"

/* An optimiser may have joined blocks of the native function: nothing says which of them the program meant. */
#define SHARED UINT32_C(0x80000000)

static uint32_t slot_of(const struct p3_jumps *jumps, const void *address) {
    return (uint32_t)((uint64_t)(uintptr_t)address * P3_HASH_FACTOR >> (64 - jumps->bits));
}

/* One more than the number of a target; 0: there is none. Half of the slots at least are empty. */
static uint32_t find(const struct p3_jumps *jumps, const void *address, uint32_t *slot) {
    uint32_t mask = (UINT32_C(1) << jumps->bits) - 1;
    for (*slot = slot_of(jumps, address);; *slot = (*slot + 1) & mask) {
        uint32_t n = jumps->slots[*slot];
        if (n == 0 || jumps->targets[(n & ~SHARED) - 1] == address)
            return n;
    }
}

static uint32_t number_of(uint32_t n) {
#ifdef P3_SHADOWS /* Where there are none, modules name __p3_jump all the same. */
    if (n & SHARED)
        p3_shadow_end(P3_END_JUMP, 0);
#endif
    return n == 0 ? 0 : n - 1; /* 0: no address of a block of that jump, so anything may happen */
}

/* Only shadows come here, which have one thread. A target that is there twice has no address the second time. */
uint32_t __p3_jump(const struct p3_jumps *jumps, const void *address) {
    uint32_t slot, n = find(jumps, address, &slot);
    if (n != 0)
        return number_of(n);
    for (uint32_t i = 0; i < jumps->n; i++)
        if (jumps->targets[i] != NULL) {
            n = find(jumps, jumps->targets[i], &slot);
            if (n == 0)
                jumps->slots[slot] = i + 1;
            else if ((n & ~SHARED) != i + 1)
                jumps->slots[slot] = n | SHARED;
        }
    return number_of(find(jumps, address, &slot));
}
