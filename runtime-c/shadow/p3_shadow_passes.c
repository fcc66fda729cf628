// SPDX-License-Identifier: MIT OR Apache-2.0
/* Counts passes by a place in native code without a breakpoint: a jump there leads to a few instructions that count,
 * then run what the jump is written over, and go back. A pass takes two nanoseconds, where one by a breakpoint takes
 * fifteen microseconds. Only a twin runs such code.
 *
 * Instructions are moved if their length is known and they neither branch nor call. Nothing but the place itself may be
 * the target of a branch into what the jump covers: entries have room for a jump, of which two bytes are theirs; at
 * loops, compilers may have merged code with an end that begins there, which nothing tells. A twin that comes to the
 * middle of a jump does anything, behind its filter, and is ended when its time is over.
 *
 * Calls: p3_shadow_patch.c.
 * In signal handlers: all of it. */
#define _GNU_SOURCE
#include "p3_shadow.h"

#ifdef P3_SHADOWS

#include <string.h>

/* Bytes of an instruction's opcode, with what follows it: a byte that names operands, so many bytes of a constant. */
enum form { UNKNOWN, ALONE, OPERANDS, WITH_BYTE, WITH_WORD, BYTE, WORD };

static enum form form_of_short(uint8_t op, uint8_t operands) {
    static const enum form arithmetic[8] = {OPERANDS, OPERANDS, OPERANDS, OPERANDS, BYTE, WORD, UNKNOWN, UNKNOWN};
    int extension = operands >> 3 & 7;
    if (op < 0x40)
        return arithmetic[op & 7];
    if ((op >= 0x50 && op < 0x60) || op == 0x90 || op == 0x98 || op == 0x99)
        return ALONE;
    if (op == 0x63 || (op >= 0x84 && op <= 0x8b) || op == 0x8d || (op >= 0xd0 && op <= 0xd3) || op == 0xfe)
        return OPERANDS;
    if (op == 0x6b || op == 0x80 || op == 0x83 || op == 0xc0 || op == 0xc1 || op == 0xc6)
        return WITH_BYTE;
    if (op == 0x69 || op == 0x81 || op == 0xc7)
        return WITH_WORD;
    if (op == 0xa8 || (op >= 0xb0 && op <= 0xb7))
        return BYTE;
    if (op == 0xa9 || (op >= 0xb8 && op <= 0xbf))
        return WORD;
    if (op == 0xf6 || op == 0xf7)
        return extension > 1 ? OPERANDS : op == 0xf6 ? WITH_BYTE : WITH_WORD;
    return op == 0xff && (extension <= 1 || extension == 6) ? OPERANDS : UNKNOWN;
}

/* Behind 0x0f. */
static enum form form_of_long(uint8_t op) {
    if ((op >= 0x70 && op <= 0x73) || op == 0xa4 || op == 0xac || op == 0xba || op == 0xc2 || (op >= 0xc4 && op <= 0xc6))
        return WITH_BYTE;
    if ((op >= 0x10 && op <= 0x17) || op == 0x1e || op == 0x1f || (op >= 0x28 && op <= 0x2f) || (op >= 0x40 && op <= 0x6f) ||
        (op >= 0x74 && op <= 0x76) || op == 0x7e || op == 0x7f || (op >= 0x90 && op <= 0x9f) || op == 0xa3 || op == 0xab || op == 0xaf ||
        op == 0xb3 || op == 0xb6 || op == 0xb7 || (op >= 0xbb && op <= 0xbf) || (op >= 0xd0 && op <= 0xfe))
        return OPERANDS;
    return op >= 0xc8 && op <= 0xcf ? ALONE : UNKNOWN;
}

/* The bytes that name operands: what they take, and whether they name an address relative to the instruction. */
static unsigned size_of_operands(const uint8_t *p, int *is_relative) {
    unsigned mode = p[0] >> 6, rm = p[0] & 7, has_index = mode != 3 && rm == 4;
    *is_relative = mode == 0 && rm == 5;
    unsigned distance = mode == 1 ? 1 : mode == 2 || *is_relative || (mode == 0 && has_index && (p[1] & 7) == 5) ? 4 : 0;
    return 1 + has_index + distance;
}

/* The length of an instruction that does the same elsewhere; 0: that is not known. `relative`: where in it there is a
 * distance from its end, of four bytes; 0: there is none. */
static unsigned size_of_instruction(const uint8_t *p, unsigned *relative) {
    unsigned n = 0, word = 4, wide = 0;
    int is_relative;
    for (; p[n] == 0x66 || p[n] == 0xf2 || p[n] == 0xf3; n++)
        word = p[n] == 0x66 ? 2 : word;
    if ((p[n] & 0xf0) == 0x40)
        wide = p[n++] & 8;
    uint8_t op = p[n++];
    enum form form = op == 0x0f ? form_of_long(p[n++]) : form_of_short(op, p[n]);
    *relative = 0;
    if (wide && op >= 0xb8 && op <= 0xbf)
        word = 8;
    if (form == OPERANDS || form == WITH_BYTE || form == WITH_WORD) {
        unsigned size = size_of_operands(p + n, &is_relative);
        *relative = is_relative ? n + size - 4 : 0;
        n += size;
    }
    if (form == UNKNOWN)
        return 0;
    return n + (form == WITH_BYTE || form == BYTE ? 1 : form == WITH_WORD || form == WORD ? word : 0);
}

/* Nothing is changed but memory of its own: flags and all registers may be in use, and what is below the stack. What
 * was moved comes behind it. */
static const uint8_t counting[] = {
    0x48, 0x8d, 0x64, 0x24, 0x80,                   /*  0: lea -128(%rsp), %rsp */
    0x51,                                           /*  5: push %rcx */
    0x48, 0x8b, 0x0d, 0, 0, 0, 0,                   /*  6: mov left(%rip), %rcx */
    0x48, 0x8d, 0x49, 0xff,                         /* 13: lea -1(%rcx), %rcx */
    0x48, 0x89, 0x0d, 0, 0, 0, 0,                   /* 17: mov %rcx, left(%rip) */
    0xe3, 0x4a,                                     /* 24: jrcxz 100 */
    0x59,                                           /* 26: pop %rcx */
    0x48, 0x8d, 0xa4, 0x24, 0x80, 0x00, 0x00, 0x00, /* 27: lea 128(%rsp), %rsp */
};
enum { READ_AT = 9, WRITTEN_AT = 20, OVER_AT = sizeof counting, END_AT = 100, MOST = 32, ALL = 128 };

/* Room in the program's code, so that any of it can jump there. */
__asm__(".text\n"
        ".p2align 6\n"
        ".globl p3_shadow_passes\n"
        ".hidden p3_shadow_passes\n"
        "p3_shadow_passes: .skip 128, 0xcc\n");
extern uint8_t p3_shadow_passes[ALL] __attribute__((visibility("hidden")));
static uint64_t left;

/* Writes a distance from the end of its four bytes; 0 when it is too far. */
static int put_distance(uint8_t *at, const void *to) {
    int64_t distance = (int64_t)((intptr_t)to - (intptr_t)(at + 4));
    int32_t near = (int32_t)distance;
    memcpy(at, &near, sizeof near);
    return near == distance;
}

/* Moves instructions of `size` bytes at least: how many bytes they are; 0 when they cannot be moved. */
static unsigned move(const uint8_t *from, unsigned size, uint8_t *to) {
    unsigned n = 0, relative;
    while (n < size) {
        unsigned one = size_of_instruction(from + n, &relative);
        if (one == 0 || n + one > MOST)
            return 0;
        memcpy(to + n, from + n, one);
        if (relative != 0) {
            int32_t distance;
            memcpy(&distance, from + n + relative, sizeof distance);
            int64_t moved = distance + (int64_t)((intptr_t)from - (intptr_t)to);
            distance = (int32_t)moved;
            memcpy(to + n + relative, &distance, sizeof distance);
            if (distance != moved)
                return 0;
        }
        n += one;
    }
    return n;
}

uint64_t p3_shadow_count_passes(uint8_t *at, uint8_t *room, uint64_t times, const uint8_t *interrupted) {
    enum { SHORT_SIZE = 2, NEAR_SIZE = 5, NEAR_JUMP = 0xe9, SHORT_JUMP = 0xeb };
    uint8_t *over = p3_shadow_passes + OVER_AT;
    unsigned size = room != NULL ? SHORT_SIZE : NEAR_SIZE;
    if (!p3_shadow_open((uint64_t)(uintptr_t)p3_shadow_passes, ALL))
        return 0;
    memcpy(p3_shadow_passes, counting, sizeof counting);
    unsigned moved = move(at, size, over);
    if (moved == 0 || (interrupted > at && interrupted < at + moved) || p3_shadow_is_site_within(at + 1, at + moved))
        return 0;
    left = times;
    over[moved] = NEAR_JUMP;
    uint8_t *jump = room != NULL ? room : at, code[NEAR_SIZE] = {NEAR_JUMP};
    int64_t distance = (int64_t)((intptr_t)p3_shadow_passes - (intptr_t)(jump + NEAR_SIZE));
    int32_t near = (int32_t)distance;
    memcpy(code + 1, &near, sizeof near);
    if (near != distance || !put_distance(over + moved + 1, at + moved) || !put_distance(p3_shadow_passes + READ_AT, &left) ||
        !put_distance(p3_shadow_passes + WRITTEN_AT, &left) || !p3_shadow_open((uint64_t)(uintptr_t)jump, (uint64_t)(at + size - jump)))
        return 0;
    memcpy(jump, code, sizeof code);
    if (room != NULL) {
        at[0] = SHORT_JUMP;
        at[1] = (uint8_t)-(at + SHORT_SIZE - room);
    }
    return (uint64_t)(uintptr_t)(p3_shadow_passes + END_AT);
}

#else
typedef int p3_no_shadows;
#endif
