/* Preloaded: at its end the program P3_FAULTS_OF adds its page faults, a line, to the file P3_FAULTS. Shadows have no such end. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

__attribute__((destructor)) static void tell(void) {
    char exe[4096], text[32];
    const char *of = getenv("P3_FAULTS_OF"), *file = getenv("P3_FAULTS");
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    struct rusage used;
    if (of == NULL || file == NULL || n < 0 || getrusage(RUSAGE_SELF, &used) != 0)
        return;
    exe[n] = 0;
    if (strcmp(exe, of) != 0)
        return;
    int fd = open(file, O_WRONLY | O_CREAT | O_APPEND, 0644);
    int length = snprintf(text, sizeof text, "%ld\n", used.ru_minflt + used.ru_majflt);
    if (fd < 0 || write(fd, text, (size_t)length) != length)
        _exit(1);
    close(fd);
}
