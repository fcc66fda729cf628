/* exit() deep in the stack, with code that runs afterwards: the frames left behind count nothing
 * more, handlers and destructors do. */
#include <stdio.h>
#include <stdlib.h>

static int calls;

static void handler(void) {
    for (int i = 0; i < 3; i++)
        calls += i;
    printf("handler %d\n", calls);
}

__attribute__((constructor)) static void before(void) { calls = calls > 0 ? -1 : 1; }

__attribute__((destructor)) static void after(void) {
    if (calls > 5)
        printf("destructor %d\n", calls);
}

static _Noreturn void die(int code) {
    if (code > 10)
        puts("dying");
    exit(code);
}

static int work(int n) {
    for (int i = 0;; i++) {
        if (i * n > 600)
            die(n + 8);
        calls += i % 4 == 0;
        if (i > 50)
            return calls;
    }
}

int main(void) {
    atexit(handler);
    for (int n = 0; n < 100; n++)
        if (work(n) < 0)
            return 1;
    return 2;
}
