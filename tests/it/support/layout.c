/* Prints sizes and offsets of what the runtime shares with others. */
#include "p3_abi.h"
#include "p3_format.h"

#include <stddef.h>
#include <stdio.h>

#define SIZE(type) printf("sizeof %s %zu\n", #type, sizeof(struct type))
#define AT(type, field) printf("%s.%s %zu\n", #type, #field, offsetof(struct type, field))

int main(void) {
    printf("magic %llx\n", (unsigned long long)P3_RAW_MAGIC);
    printf("block %llx\n", (unsigned long long)P3_BLOCK_MAGIC);
    printf("chunk %llx\n", (unsigned long long)P3_CHUNK_MAGIC);
    printf("version %u\n", P3_RAW_VERSION);
    printf("levels %d\n", P3_LEVELS);
    SIZE(p3_raw_header), SIZE(p3_raw_block), SIZE(p3_raw_function), SIZE(p3_raw_chunk);
    SIZE(p3_slot);
    AT(p3_raw_header, program), AT(p3_raw_header, copy), AT(p3_raw_header, copies);
    AT(p3_raw_header, page), AT(p3_raw_header, header_crc), AT(p3_raw_header, flags);
    AT(p3_raw_header, file_size), AT(p3_raw_header, unique), AT(p3_raw_header, pid);
    AT(p3_raw_header, parent), AT(p3_raw_header, arguments), AT(p3_raw_header, text_size);
    AT(p3_raw_header, process);
    AT(p3_raw_block, size), AT(p3_raw_block, kind), AT(p3_raw_block, n_functions);
    AT(p3_raw_block, counters_offset), AT(p3_raw_block, n_counters), AT(p3_raw_block, crc);
    AT(p3_raw_block, reserved);
    AT(p3_raw_function, kind), AT(p3_raw_function, size), AT(p3_raw_function, first);
    AT(p3_raw_chunk, func), AT(p3_raw_chunk, slots), AT(p3_raw_chunk, size);
    SIZE(p3_table), SIZE(p3_function), SIZE(p3_module);
    AT(p3_function, size), AT(p3_function, counts);
    AT(p3_module, program), AT(p3_module, module), AT(p3_module, functions);
    AT(p3_module, counters_size), AT(p3_module, page), AT(p3_module, next);
    AT(p3_table, func), AT(p3_table, size), AT(p3_table, level), AT(p3_table, cache);
    printf("cache bits %d\n", P3_CACHE_BITS);
    return 0;
}
