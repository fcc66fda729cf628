/* The tracer of the trace oracle: logs activations and blocks to P3_TRACE_FILE, as records of
 * frame (64 bits), kind and value (32 bits each). Kinds: 0 enter (value: function), 1 block
 * (value: its number), 2 exit, 3 a call of the block returned that may return twice. The first
 * record's frame is the number of records that follow. The file is mapped: it survives the process. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct record {
    uint64_t frame;
    uint32_t kind, value;
};

enum { MAX = 1 << 26 };

static uint64_t frames;
static struct record *records;

static void put(struct record record) {
    if (records == NULL) {
        int fd = open(getenv("P3_TRACE_FILE"), O_RDWR | O_CREAT, 0666);
        if (fd < 0 || ftruncate(fd, MAX * sizeof record) != 0)
            abort();
        records = mmap(NULL, MAX * sizeof record, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
    }
    if (records[0].frame + 1 >= MAX)
        abort();
    records[++records[0].frame] = record;
}

uint64_t __p3_trace_enter(uint32_t function) {
    put((struct record){++frames, 0, function});
    return frames;
}

void __p3_trace_block(uint64_t frame, uint32_t block) { put((struct record){frame, 1, block}); }

void __p3_trace_exit(uint64_t frame) { put((struct record){frame, 2, 0}); }

void __p3_trace_resume(uint64_t frame, uint32_t block) { put((struct record){frame, 3, block}); }
