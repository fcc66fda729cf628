/* A server that never ends: it answers questions about words, one connection at a time.
 *   server SOCKET                    serves
 *   server ask SOCKET N QUESTION...  asks each question N times and prints the last answers
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int vowels(const char *word) {
    int n = 0;
    for (; *word; word++)
        if (strchr("aeiou", *word))
            n++;
    return n;
}

static int is_palindrome(const char *word) {
    size_t n = strlen(word);
    for (size_t i = 0; i < n / 2; i++)
        if (word[i] != word[n - 1 - i])
            return 0;
    return 1;
}

static int answer(const char *question) {
    if (strncmp(question, "vowels ", 7) == 0)
        return vowels(question + 7);
    if (strncmp(question, "palindrome ", 11) == 0)
        return is_palindrome(question + 11);
    return -1;
}

static struct sockaddr_un address_of(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    return address;
}

static void serve(const char *path) {
    struct sockaddr_un address = address_of(path);
    int listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 8) != 0) {
        perror(path);
        exit(1);
    }
    for (;;) {
        int client = accept(listener, NULL, NULL);
        char question[128];
        ssize_t n;
        while ((n = recv(client, question, sizeof question - 1, 0)) > 0) {
            question[n] = 0;
            int found = answer(question);
            if (send(client, &found, sizeof found, MSG_NOSIGNAL) < 0)
                break;
        }
        close(client);
    }
}

static int ask(const char *path, int times, char **questions) {
    struct sockaddr_un address = address_of(path);
    int server = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    /* It may only just have been started. */
    for (int tries = 0; connect(server, (struct sockaddr *)&address, sizeof address) != 0; tries++) {
        if (tries == 1000) {
            perror(path);
            return 1;
        }
        usleep(10000);
    }
    for (; *questions; questions++) {
        int found = 0;
        for (int i = 0; i < times; i++)
            if (send(server, *questions, strlen(*questions), 0) < 0 || recv(server, &found, sizeof found, 0) <= 0)
                return 1;
        printf("%s: %d\n", *questions, found);
    }
    /* Until the server has closed its end, too. */
    char none;
    shutdown(server, SHUT_WR);
    return recv(server, &none, 1, 0) != 0;
}

int main(int argc, char **argv) {
    if (argc > 4 && strcmp(argv[1], "ask") == 0)
        return ask(argv[2], atoi(argv[3]), argv + 4);
    if (argc == 2)
        serve(argv[1]);
    fprintf(stderr, "server SOCKET, or server ask SOCKET N QUESTION...\n");
    return 2;
}
