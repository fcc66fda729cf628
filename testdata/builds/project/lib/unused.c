/* No program needs this member, and none could be linked with it. */
int is_nowhere(void);

int text_unused(int n) { return n > 0 ? is_nowhere() : 0; }
