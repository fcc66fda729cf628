// Memory that another thread and a handler of a signal write between two instructions that read it.
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>

static int shared;
static int flag;
static volatile int quick, stop;

static void *write_shared(void *unused) {
    while (!stop) {
        shared = 1;
        __asm__ volatile("" ::: "memory");
        shared = 2;
        quick = !quick;
        __asm__ volatile("" ::: "memory");
    }
    return unused;
}

static void handle(int signal) {
    (void)signal;
    flag = !flag;
}

__attribute__((noinline)) static int read_shared(int *p) {
    int r = 0;
    if (*p == 1) r |= 1;
    if (*p == 2) r |= 2;
    if (quick) r |= 4;
    if (!quick) r |= 8;
    return r;
}

__attribute__((noinline)) static int read_flag(int *p) {
    int r = 0;
    if (*p) r |= 1;
    if (!*p) r |= 2;
    return r;
}

int main(void) {
    pthread_t thread;
    struct itimerval each = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    int found = 0, flags = 0;
    signal(SIGALRM, handle);
    setitimer(ITIMER_REAL, &each, NULL);
    pthread_create(&thread, NULL, write_shared, NULL);
    for (int i = 0; i < 2000000 && (found != 15 || flags != 3); i++) {
        found |= 1 << 4 * (read_shared(&shared) == 15) & 16 ? 15 : 0;
        flags |= read_flag(&flag) == 3 ? 3 : 0;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    stop = 1;
    pthread_join(thread, NULL);
    return 0;
}
