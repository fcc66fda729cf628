#include "text.h"

#include <ctype.h>

int text_words(const char *line) {
    int words = 0, inside = 0;
    for (; *line != 0; line++) {
        int letter = !isspace((unsigned char)*line);
        if (letter && !inside)
            words++;
        inside = letter;
    }
    return words < text_limit ? words : text_limit;
}
