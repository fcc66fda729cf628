/* The tracer of the trace oracle: logs activations and blocks to P3_TRACE_FILE, as records of
 * frame (64 bits), kind and value (32 bits each). Kinds: 0 enter (value: function), 1 block
 * (value: its number), 2 exit, 3 a call of the block returned that may return twice. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct record {
    uint64_t frame;
    uint32_t kind, value;
};

static uint64_t frames;

static void put(struct record record) {
    static FILE *file;
    if (file == NULL && (file = fopen(getenv("P3_TRACE_FILE"), "wb")) == NULL)
        abort();
    fwrite(&record, sizeof record, 1, file);
}

uint64_t __p3_trace_enter(uint32_t function) {
    put((struct record){++frames, 0, function});
    return frames;
}

void __p3_trace_block(uint64_t frame, uint32_t block) { put((struct record){frame, 1, block}); }

void __p3_trace_exit(uint64_t frame) { put((struct record){frame, 2, 0}); }

void __p3_trace_resume(uint64_t frame, uint32_t block) { put((struct record){frame, 3, block}); }
