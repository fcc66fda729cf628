#include "text.h"

int text_longest(const char *line) {
    int longest = 0, length = 0;
    for (; *line != 0; line++) {
        length = *line == ' ' ? 0 : length + 1;
        if (length > longest)
            longest = length;
    }
    return longest;
}
