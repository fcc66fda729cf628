/* In both programs. */
int common(int n) { return n % 2 == 0 ? n / 2 : 3 * n + 1; }
