// SPDX-License-Identifier: MIT OR Apache-2.0
/* What shadows need of the kernel's headers. A C library of its own folder, as musl's, comes without them: these
 * numbers and structures are the kernel's interface and never change. */
#ifndef P3_SHADOW_KERNEL_H
#define P3_SHADOW_KERNEL_H

#include <sys/prctl.h>

#if !defined P3_OWN_KERNEL && __has_include(<linux/audit.h>) && __has_include(<linux/filter.h>) && __has_include(<linux/futex.h>) && \
    __has_include(<linux/seccomp.h>)
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#else

#include <stdint.h>

/* linux/audit.h: a little-endian machine of 64 bits. */
#define AUDIT_ARCH_X86_64 (62u | 0x80000000u | 0x40000000u)

/* linux/futex.h */
#define FUTEX_WAIT 0
#define FUTEX_WAKE 1
#define FUTEX_WAKE_BITSET 10
#define FUTEX_CMD_MASK (~(128 | 256))

/* linux/filter.h */
struct sock_filter {
    uint16_t code;
    uint8_t jt, jf;
    uint32_t k;
};
struct sock_fprog {
    unsigned short len;
    struct sock_filter *filter;
};
#define BPF_LD 0x00
#define BPF_W 0x00
#define BPF_ABS 0x20
#define BPF_JMP 0x05
#define BPF_JEQ 0x10
#define BPF_K 0x00
#define BPF_RET 0x06
#define BPF_STMT(code, k) {(uint16_t)(code), 0, 0, k}
#define BPF_JUMP(code, k, jt, jf) {(uint16_t)(code), jt, jf, k}

/* linux/seccomp.h */
#define SECCOMP_MODE_STRICT 1
#define SECCOMP_MODE_FILTER 2
#define SECCOMP_SET_MODE_STRICT 0
#define SECCOMP_SET_MODE_FILTER 1
#define SECCOMP_RET_TRAP 0x00030000u
#define SECCOMP_RET_ALLOW 0x7fff0000u
struct seccomp_data {
    int nr;
    uint32_t arch;
    uint64_t instruction_pointer;
    uint64_t args[6];
};

#endif

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

#endif
