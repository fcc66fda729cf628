/* Prints sizes and offsets of what the runtime shares with others. */
#include "p3_abi.h"
#include "p3_format.h"

#include <stddef.h>
#include <stdio.h>

#define SIZE(type) printf("sizeof %s %zu\n", #type, sizeof(struct type))
#define AT(type, field) printf("%s.%s %zu\n", #type, #field, offsetof(struct type, field))

int main(void) {
    printf("magic %llx\nversion %u\n", (unsigned long long)P3_RAW_MAGIC, P3_RAW_VERSION);
    SIZE(p3_raw_header), SIZE(p3_raw_module), SIZE(p3_raw_function), SIZE(p3_raw_entry);
    AT(p3_raw_header, file_size), AT(p3_raw_header, program), AT(p3_raw_header, copy);
    AT(p3_raw_header, copies), AT(p3_raw_header, n_modules), AT(p3_raw_header, n_functions);
    AT(p3_raw_header, body_crc), AT(p3_raw_header, header_crc);
    AT(p3_raw_function, kind), AT(p3_raw_function, size), AT(p3_raw_function, offset);
    AT(p3_raw_function, entries);
    SIZE(p3_table), SIZE(p3_function), SIZE(p3_module);
    AT(p3_function, size), AT(p3_function, counts);
    AT(p3_module, program), AT(p3_module, module), AT(p3_module, functions);
    AT(p3_module, n_counters), AT(p3_module, next);
    return 0;
}
