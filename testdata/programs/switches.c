/* Switches: parallel edges, fall-through, dense and sparse, in loops. */
#include <stdio.h>

static int weigh(int c) {
    switch (c) {
    case 'a': case 'e': case 'i': case 'o': case 'u':
        return 1;
    case 'x': case 'z':
        return 8;
    case '0': case '1': case '2':
        c++;
        /* fall through */
    case '3':
        return c - '0';
    case 100000:
        return -1;
    default:
        return c > 'm' ? 3 : 2;
    }
}

static int machine(const char *program) {
    int a = 0, b = 1;
    for (const char *p = program;; p++) {
        switch (*p) {
        case '+': a += b; continue;
        case '-': a -= b; break;
        case '*': b = b * 2 % 101; break;
        case '?': if (a & 1) p++; break;
        case ' ': case '\t': case '\n': break;
        case 0: return a;
        default: b = *p & 15;
        }
        if (a > 50)
            a -= 60;
    }
}

int main(void) {
    int sum = 0;
    for (int i = 0; i < 300; i++)
        sum += weigh(i);
    sum += weigh(100000);
    sum += machine("+*+ -?+*3+?-**+\n+?\t?+-9+++*+?+-");
    printf("%d\n", sum);
    return 0;
}
