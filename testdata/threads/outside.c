// A library with code that the dynamic linker calls before its constructors or after its destructors: a resolver
// (-DRESOLVED), or functions that -Wl,-init and -Wl,-fini name. Slots as in plugin.c.
#include "plugin.c"

#ifdef RESOLVED
static int one(int n) {
    return n + 1;
}

static int two(int n) {
    return n + 2;
}

static __attribute__((noinline)) int (*choose(void))(int) {
    __asm__("");
    return (uintptr_t)__builtin_frame_address(0) % 32 < 16 ? one : two;
}

int chosen(int n) __attribute__((ifunc("choose")));
#else
void begin_library(void);
void begin_library(void) {
    plugin_work(1, 1, 100);
}

void end_library(void);
void end_library(void) {
    plugin_work(2, 1, 100);
}
#endif
