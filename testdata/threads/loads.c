/* loads THREADS TIMES LIBRARY...: each thread loads a library, calls it, starts others, and closes it. With
 * LIBRARY it is one. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef LIBRARY

int step(int n) { return n % 3 == 0 ? n / 3 : 2 * n; }

#else

enum { MOST = 64, OTHERS = 4 };
static int times, libraries;
static char **names;

static void *walk(void *n) { return *(int *)n % 2 != 0 ? n : NULL; }

static void *load(void *number) {
    for (int i = 0; i < times; i++) {
        void *library = dlopen(names[(*(int *)number + i) % libraries], RTLD_NOW | RTLD_LOCAL);
        if (library == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            exit(1);
        }
        int (*call)(int) = (int (*)(int))(__UINTPTR_TYPE__)dlsym(library, "step");
        call(i);
        pthread_t others[OTHERS];
        int started = 0;
        while (started < OTHERS && pthread_create(&others[started], NULL, walk, &i) == 0)
            started++;
        dlclose(library);
        while (started > 0)
            pthread_join(others[--started], NULL);
    }
    return NULL;
}

int main(int argc, char **argv) {
    int threads = argc > 3 ? atoi(argv[1]) : 0, numbers[MOST];
    pthread_t all[MOST];
    if (threads < 1 || threads > MOST)
        return 2;
    times = atoi(argv[2]);
    names = argv + 3;
    libraries = argc - 3;
    for (int i = 0; i < threads; i++) {
        numbers[i] = i;
        if (pthread_create(&all[i], NULL, load, &numbers[i]) != 0)
            return 1;
    }
    for (int i = 0; i < threads; i++)
        pthread_join(all[i], NULL);
    return 0;
}

#endif
