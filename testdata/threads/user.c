// A program that gives threads of early.c work. Argument: rounds.
#include "truth.h"

void early_run(void (*function)(int));
void early_wait(void);

static long rounds;

static void task(int number) {
    work(take_slot(), (unsigned)number, rounds);
}

int main(int argc, char **argv) {
    rounds = argc > 1 ? atol(argv[1]) : 100;
    struct slot *own = take_slot();
    early_run(task);
    work(own, 7, rounds);
    early_wait();
    return 0;
}
