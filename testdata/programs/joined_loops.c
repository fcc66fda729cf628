// Loops over joined conditions: at -O0 the branch tests a φ, which a condition that came before may decide alone.
#include <stdio.h>

// `s[i] == ' '` is never false: each text is blank, or empty.
static int skip(const char *s, int n) {
  int i = 0;
  while (i < n && s[i] == ' ')
    i++;
  return i;
}

// `b > 3` is never true, and `b < 9` never false.
static int count(int a, int b) {
  int c = 0;
  while (a > 0 || b > 3) {
    a--;
    c++;
  }
  do
    c--;
  while (c > 0 && b < 9);
  return c;
}

// Three operands, the last of which is decided rarely.
static int scan(const int *v, int n) {
  int found = 0;
  for (int i = 0; i < n && v[i] != 7 && found < 100; i++)
    found += v[i] > 2;
  return found;
}

int main(void) {
  const char *texts[] = {"", "   ", " "};
  const int v[] = {1, 5, 3, 7, 9};
  int sum = 0;
  for (int k = 0; k < 3; k++)
    sum += skip(texts[k], k == 1 ? 3 : k / 2);
  sum += count(2, 1) + count(0, 2) + scan(v, 5) + scan(v, 2);
  printf("%d\n", sum);
  return 0;
}
