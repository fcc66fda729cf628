// SPDX-License-Identifier: MIT OR Apache-2.0
/* System calls past libc.
 *
 * Calls: nothing.
 * In signal handlers: all of it. */
#include "p3_shadow.h"

#ifdef P3_SHADOWS

__asm__(".text\n"
        ".globl p3_shadow_call, p3_shadow_called, p3_shadow_return\n"
        ".hidden p3_shadow_call, p3_shadow_called, p3_shadow_return\n"
        ".type p3_shadow_call, @function\n"
        "p3_shadow_call:\n"
        P3_SYSTEM_CALL
        "p3_shadow_called:\n"
        "    ret\n"
        ".size p3_shadow_call, . - p3_shadow_call\n"
        ".type p3_shadow_return, @function\n"
        "p3_shadow_return:\n"
        "    mov $15, %eax\n"
        "    syscall\n"
        ".size p3_shadow_return, . - p3_shadow_return\n");

#else
typedef int p3_no_shadows;
#endif
