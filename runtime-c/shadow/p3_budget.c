// SPDX-License-Identifier: MIT OR Apache-2.0
/* The instructions that a burst has left.
 *
 * Calls: nothing.
 * In signal handlers: nothing is called. */
#include "p3_shadow.h"

_Alignas(4096) struct p3_burst __p3_burst;
