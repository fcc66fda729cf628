/* An endless loop, ended by a signal. */
#include <signal.h>
#include <unistd.h>
static volatile int hits;
static int spin(int n) {
    for (;;) {
        hits += n & 3;
        if (++n == 3000)
            raise(SIGKILL);
    }
}
#define END spin(n)
#include "ending.h"
