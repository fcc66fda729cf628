/* Executes known numbers of instructions in `work`, and leaves `main` in the way that the argument says. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) int work(int rounds) {
    volatile int sum = 0;
    for (int i = 0; i < rounds; i++)
        sum += i;
    return sum & 1;
}

/* Behind `main`: in no count but that of a program that leaves by exit. */
__attribute__((destructor, noinline)) static void late(void) { work(1000); }

__attribute__((noinline)) static int last(int odd) { return work(1000) + odd > 5; }

static void in_child(int kills) {
    if (fork() == 0) {
        work(50000);
        if (kills)
            abort();
        _exit(0);
    }
    wait(NULL);
}

int main(int arguments, char **argument) {
    const char *way = arguments > 1 ? argument[1] : "";
    int odd = work(100000);
    if (strcmp(way, "exit") == 0)
        exit(0);
    if (strcmp(way, "fork") == 0 || strcmp(way, "killed") == 0)
        in_child(way[0] == 'k');
    if (strcmp(way, "exec") == 0) {
        execl("/nonexistent/program", "program", (char *)NULL);
        work(50000);
        execl("/bin/true", "true", (char *)NULL);
    }
    if (strcmp(way, "jump") == 0)
        return last(odd);
    return odd > 5;
}
