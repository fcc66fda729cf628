// SPDX-License-Identifier: MIT OR Apache-2.0
/* Checksums: CRC-32 as in IEEE 802.3.
 *
 * Calls: nothing.
 * In signal handlers: all of it. */
#include "p3_internal.h"

uint32_t p3_crc32(uint32_t crc, const void *data, size_t n) {
    const uint8_t *p = data;
    crc = ~crc;
    while (n-- > 0) {
        crc ^= *p++;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ UINT32_C(0xedb88320) : crc >> 1;
    }
    return ~crc;
}
