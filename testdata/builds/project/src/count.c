#include "text.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef WITH_P3
#include <p3_profile.h>
#endif

int common(int n);

int main(int argc, char **argv) {
    char line[200];
    int steps = 0;
    if (argc > 1 && strcmp(argv[1], "--plugin") == 0) {
        void *library = dlopen(argv[2], RTLD_NOW);
        int (*plugin)(int) = library == NULL ? NULL : (int (*)(int))dlsym(library, "plugin");
        if (plugin == NULL)
            return 1;
        printf("plugin %d\n", plugin(atoi(argv[3])));
        return 0;
    }
    while (fgets(line, sizeof line, stdin) != NULL) {
        int n = text_words(line);
        printf("%d %d\n", n, text_longest(line));
        for (n++; n != 1; n = common(n))
            steps++;
    }
    printf("%d steps\n", steps);
#ifdef WITH_P3
    if (p3_profile_dump)
        p3_profile_dump();
#endif
    return 0;
}
