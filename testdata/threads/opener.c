// Threads that open a library, call it and close it, one after the other. Arguments: the library, rounds, times.
#include "truth.h"
#include <dlfcn.h>
#include <pthread.h>

static const char *library;
static long rounds;

static void *open_and_work(void *slot) {
    work(slot, 1, rounds);
    void *opened = dlopen(library, RTLD_NOW);
    if (!opened)
        _exit(9);
    void (*in_library)(int, unsigned, long) = (void (*)(int, unsigned, long))dlsym(opened, "plugin_work");
    in_library(0, 3, rounds);
    dlclose(opened);
    work(slot, 2, rounds);
    return NULL;
}

int main(int argc, char **argv) {
    library = argv[1];
    rounds = argc > 2 ? atol(argv[2]) : 100;
    struct slot *slot = take_slot();
    for (long i = argc > 3 ? atol(argv[3]) : 1; i > 0; i--) {
        pthread_t id;
        pthread_create(&id, NULL, open_and_work, slot);
        pthread_join(id, NULL);
    }
    return 0;
}
