// SPDX-License-Identifier: MIT OR Apache-2.0
/* Checksums: CRC-32 as in IEEE 802.3.
 *
 * Calls: nothing.
 * In signal handlers: all of it. */
#include "p3_internal.h"

/* What four bits that leave the checksum do to the rest of it: for each bit but the last, the polynomial once more. */
static const uint32_t LEAVING[16] = {
    0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
    0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
};

uint32_t p3_crc32(uint32_t crc, const void *data, size_t n) {
    const uint8_t *p = data;
    crc = ~crc;
    while (n-- > 0) {
        crc ^= *p++;
        crc = crc >> 4 ^ LEAVING[crc & 15];
        crc = crc >> 4 ^ LEAVING[crc & 15];
    }
    return ~crc;
}
