/* without WHAT PROGRAM ARGUMENT...: runs a program where there is none of that. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int filtered(struct sock_filter *code, unsigned short length) {
    struct sock_fprog program = {length, code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* seccomp(2) fails. */
static int filters(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return filtered(code, sizeof code / sizeof *code);
}

/* Nothing that can be executed becomes writable, as under SELinux. */
static int writable_code(void) {
    enum { BOTH = PROT_WRITE | PROT_EXEC };
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, BOTH),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, BOTH, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return filtered(code, sizeof code / sizeof *code);
}

/* There is one core. */
static int cores(void) {
    cpu_set_t all, one;
    int core = 0;
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return 0;
    while (!CPU_ISSET(core, &all))
        core++;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0;
}

/* The timer's signal is ignored. */
static int signals(void) { return signal(SIGURG, SIG_IGN) != SIG_ERR; }

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        int (*take)(void);
    } all[] = {{"filters", filters}, {"writable-code", writable_code}, {"cores", cores}, {"signals", signals}};
    for (size_t i = 0; argc > 2 && i < sizeof all / sizeof *all; i++)
        if (strcmp(argv[1], all[i].name) == 0) {
            if (!all[i].take())
                return 120;
            execv(argv[2], argv + 2);
            return 121;
        }
    return 122;
}
