// Threads that the C library starts (SIGEV_THREAD), each of them when the one before is over; main works at the same
// time. Arguments: how many, rounds.
#include "truth.h"
#include <signal.h>
#include <time.h>

static long rounds;
static int expired;

static void work_when_expired(union sigval slot) {
    work((struct slot *)slot.sival_ptr, 3, rounds);
    __atomic_fetch_add(&expired, 1, __ATOMIC_SEQ_CST);
}

int main(int argc, char **argv) {
    struct slot *slot = take_slot(), *own = take_slot();
    int times = argc > 1 ? atoi(argv[1]) : 1;
    rounds = argc > 2 ? atol(argv[2]) : 100;
    for (int i = 0; i < times; i++) {
        struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = work_when_expired};
        event.sigev_value.sival_ptr = slot;
        timer_t timer;
        struct itimerspec soon = {.it_value = {0, 100000}};
        if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &soon, NULL) != 0)
            _exit(9);
        while (__atomic_load_n(&expired, __ATOMIC_SEQ_CST) <= i)
            work(own, (unsigned)i, 10);
        timer_delete(timer);
    }
    return 0;
}
