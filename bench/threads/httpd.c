// A server of HTTP/1.1 with a thread for each connection. Arguments: where its port is written, and how many connections
// it serves before it ends. Built with -DCLIENT: who asks; arguments: port, threads, connections, requests of each.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { ROOM = 8192 };

#ifndef CLIENT
struct request {
    char method[8], path[256];
    int keeps_alive;
    long length;
};

// Decodes %xx in place; false: it is none.
static int decode(char *path) {
    char *to = path;
    for (char *at = path; *at; at++) {
        if (*at != '%') {
            *to++ = *at;
            continue;
        }
        if (!isxdigit((unsigned char)at[1]) || !isxdigit((unsigned char)at[2]))
            return 0;
        char digits[3] = {at[1], at[2], 0};
        *to++ = (char)strtol(digits, NULL, 16);
        at += 2;
    }
    *to = 0;
    return 1;
}

static int parse_header(char *line, struct request *r) {
    char *value = strchr(line, ':');
    if (!value)
        return 0;
    *value++ = 0;
    while (*value == ' ' || *value == '\t')
        value++;
    if (strcasecmp(line, "connection") == 0)
        r->keeps_alive = strcasecmp(value, "close") != 0;
    else if (strcasecmp(line, "content-length") == 0)
        r->length = atol(value);
    return 1;
}

// The status of the answer.
static int parse(char *text, struct request *r) {
    char *rest = NULL, *line = strtok_r(text, "\n", &rest);
    memset(r, 0, sizeof *r);
    r->keeps_alive = 1;
    if (!line || sscanf(line, "%7s %255s", r->method, r->path) != 2)
        return 400;
    while ((line = strtok_r(NULL, "\n", &rest))) {
        size_t n = strlen(line);
        if (n && line[n - 1] == '\r')
            line[--n] = 0;
        if (n && !parse_header(line, r))
            return 400;
    }
    if (!decode(r->path))
        return 400;
    if (strcmp(r->method, "GET") != 0 && strcmp(r->method, "HEAD") != 0)
        return 405;
    if (strstr(r->path, ".."))
        return 403;
    return strncmp(r->path, "/missing", 8) == 0 ? 404 : 200;
}

// A page that depends on its path alone.
static size_t render(const char *path, char *to) {
    unsigned seed = 5381;
    for (const char *at = path; *at; at++)
        seed = seed * 33 + (unsigned char)*at;
    size_t n = 0;
    n += (size_t)sprintf(to + n, "<ul>");
    for (int i = 0; i < 40; i++) {
        seed = seed * 1103515245u + 12345u;
        unsigned value = seed >> 16 & 1023;
        if (value % 5 == 0)
            n += (size_t)sprintf(to + n, "<li><b>%u</b></li>", value);
        else
            n += (size_t)sprintf(to + n, "<li>%x</li>", value);
    }
    return n + (size_t)sprintf(to + n, "</ul>");
}

static void *serve(void *connection) {
    int socket = (int)(long)connection;
    char text[ROOM], answer[ROOM], body[ROOM / 2];
    struct request r;
    ssize_t n;
    do {
        n = read(socket, text, sizeof text - 1);
        if (n <= 0)
            break;
        text[n] = 0;
        int status = parse(text, &r);
        size_t length = status == 200 ? render(r.path, body) : (size_t)sprintf(body, "%d\n", status);
        int head = sprintf(answer, "HTTP/1.1 %d x\r\nContent-Length: %zu\r\n\r\n", status, length);
        memcpy(answer + head, body, length);
        n = write(socket, answer, (size_t)head + length);
    } while (n > 0 && r.keeps_alive);
    close(socket);
    return NULL;
}

int main(int argc, char **argv) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listening = socket(AF_INET, SOCK_STREAM, 0), connections = argc > 2 ? atoi(argv[2]) : 1;
    if (bind(listening, (struct sockaddr *)&address, size) != 0 || listen(listening, 256) != 0)
        return 1;
    getsockname(listening, (struct sockaddr *)&address, &size);
    FILE *port = fopen(argv[1], "w");
    fprintf(port, "%d\n", ntohs(address.sin_port));
    fclose(port);
    pthread_t *threads = calloc((size_t)connections, sizeof *threads);
    for (int i = 0; i < connections; i++)
        pthread_create(&threads[i], NULL, serve, (void *)(long)accept(listening, NULL, NULL));
    for (int i = 0; i < connections; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
#else
static int port, connections, requests, threads;

static void *ask(void *number) {
    for (int c = (int)(long)number; c < connections; c += threads) {
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        address.sin_port = htons((uint16_t)port);
        int to = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(to, (struct sockaddr *)&address, sizeof address) != 0)
            exit(1);
        for (int i = 0; i < requests; i++) {
            char text[ROOM];
            const char *path = i % 9 == 0 ? "missing" : i % 11 == 0 ? "a/../b" : i % 13 == 0 ? "%7" : "page%20";
            int n = sprintf(text, "%s /%s%d HTTP/1.1\r\nHost: x\r\nAccept: */*\r\nConnection: %s\r\n\r\n",
                            i % 17 == 0 ? "POST" : "GET", path, (c + i) % 50, i + 1 < requests ? "keep-alive" : "close");
            if (write(to, text, (size_t)n) != n || read(to, text, sizeof text) <= 0)
                exit(1);
        }
        close(to);
    }
    return NULL;
}

int main(int argc, char **argv) {
    port = atoi(argv[1]), threads = atoi(argv[2]), connections = atoi(argv[3]);
    requests = argc > 4 ? atoi(argv[4]) : 1;
    pthread_t ids[64];
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, ask, (void *)(long)i);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    return 0;
}
#endif
