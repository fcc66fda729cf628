/* Customers that come, wait for one of several clerks and go: a queue of events. events EVENTS */
#include <stdio.h>
#include <stdlib.h>

enum kind { COMES, IS_SERVED, LOOKS };
struct event {
    unsigned long time;
    enum kind kind;
    int who;
};
enum { MOST = 4096, CLERKS = 5, CUSTOMERS = 1000 };
static struct event heap[MOST];
static int n_events, waiting[CUSTOMERS], first, n_waiting, free_clerks = CLERKS;
static unsigned state = 4711;
static unsigned long waited, since[CUSTOMERS];

static unsigned next_random(unsigned below) {
    state = state * 1103515245u + 12345u;
    return (state >> 8) % below;
}

__attribute__((noinline)) static void put(struct event e) {
    int at = n_events++;
    for (; at > 0 && heap[(at - 1) / 2].time > e.time; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = e;
}

__attribute__((noinline)) static struct event take(void) {
    struct event least = heap[0], last = heap[--n_events];
    int at = 0, child;
    while ((child = 2 * at + 1) < n_events) {
        if (child + 1 < n_events && heap[child + 1].time < heap[child].time)
            child++;
        if (heap[child].time >= last.time)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return least;
}

static void serve(unsigned long now, int who) {
    free_clerks--;
    waited += now - since[who];
    put((struct event){now + 20 + next_random(60), IS_SERVED, who});
}

__attribute__((noinline)) static void handle(struct event e) {
    switch (e.kind) {
    case COMES:
        since[e.who] = e.time;
        if (free_clerks > 0)
            serve(e.time, e.who);
        else
            waiting[(first + n_waiting++) % CUSTOMERS] = e.who;
        break;
    case IS_SERVED:
        free_clerks++;
        put((struct event){e.time + 1000 + next_random(20000), next_random(4) == 0 ? LOOKS : COMES, e.who});
        if (n_waiting > 0) {
            n_waiting--;
            serve(e.time, waiting[first]);
            first = (first + 1) % CUSTOMERS;
        }
        break;
    case LOOKS:
        put((struct event){e.time + next_random(300), COMES, e.who});
    }
}

int main(int argc, char **argv) {
    long events = argc > 1 ? atol(argv[1]) : 100000;
    for (int i = 0; i < CUSTOMERS; i++)
        put((struct event){next_random(20000), COMES, i});
    for (long i = 0; i < events; i++)
        handle(take());
    printf("%lu\n", waited);
    return 0;
}
