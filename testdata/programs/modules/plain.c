/* C between C++ frames: an exception passes through it. */
int plain(int (*call)(int), int n) {
    int sum = 0;
    for (int i = 0; i < n % 4; i++)
        sum += call(i + n);
    return sum;
}
