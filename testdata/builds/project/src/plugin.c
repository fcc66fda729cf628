/* Opened by `count` while it runs. */
int plugin(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i % 3 == 0 ? i : 1;
    return sum;
}
