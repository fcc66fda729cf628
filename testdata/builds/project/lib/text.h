/* What the static library has. */
int text_words(const char *line);
int text_longest(const char *line);
extern int text_limit;
