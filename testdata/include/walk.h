/* Computed gotos whose targets are also reached directly: their edges from indirectbr are critical, and they are headers of loops whose addresses are taken. */
static long walk(long n) {
    static const void *const labels[] = {&&odd, &&even, &&done};
    long steps = 0;
    if (n & 1)
        goto odd;
    goto *labels[1 + (n < 2)];
odd:
    steps += 2;
    n = 3 * n + 1;
    if (n % 7 == 0)
        goto even;
    goto *labels[n & 1 ? 0 : 1];
even:
    steps++;
    n /= 2;
    if (n % 5 == 0 && n & 1)
        goto odd;
    goto *labels[n < 2 ? 2 : n & 1 ? 0 : 1];
done:
    return steps;
}
