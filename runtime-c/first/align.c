// SPDX-License-Identifier: MIT OR Apache-2.0
/* Where copies begin to have the same addresses, after what differs between them in size: constants, constants with
 * addresses, and zeros begin at multiples of P3_ALIGN, and what lies between is the same in each.
 *
 * Linked before everything else, into programs alone. Linkers align a section as the part of it that wants most. */
#if defined P3_STATIC && P3_ALIGN < 1 << 20 /* the C library is in the program: more code whose size nobody has told */
#undef P3_ALIGN
#define P3_ALIGN (1 << 20)
#endif

#define KEPT __attribute__((aligned(P3_ALIGN), used, retain, visibility("hidden")))

extern const char p3_constants;
extern const char *const p3_addresses;
extern char p3_zeros;

const char p3_constants KEPT __attribute__((section(".rodata"))) = 1;
const char *const p3_addresses KEPT __attribute__((section(".data.rel.ro"))) = &p3_constants;
char p3_zeros KEPT;
