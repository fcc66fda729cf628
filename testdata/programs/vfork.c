/* vfork: the child runs in the parent's memory and leaves by _exit. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int classify(int n) { return n % 3 == 0 ? 1 : n % 5 == 0 ? 2 : 3; }

static int spawn(int n) {
    int status = -1;
    if (n % 2)
        n++;
    pid_t child = vfork();
    if (child == 0)
        _exit(classify(n));
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

int main(void) {
    int sum = 0;
    for (int i = 0; i < 12; i++)
        sum = sum * 4 % 1001 + spawn(i);
    printf("%d\n", sum);
    return 0;
}
