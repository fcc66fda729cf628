// A lambda on the first line of which its function runs while it does not, functions of one line, inlined and never called.
#include <algorithm>
#include <vector>
#include <cstdio>
template <class T> T twice(T a) {
  return a + a;
}
struct S {
  int n;
  int get() const { return n; }
  static int unused(int k) { if (k > 2) return 1; return 2; }
};
static int helper(std::vector<int> &v, int k) {
  auto never = [&](int a, int b) { return a + b + k; };
  std::sort(v.begin(), v.end(), [](int a, int b) {
    return a > b;
  });
  if (k > 100) return never(1, 2);
  return v[0];
}
#define DEF(x) int x(int n) { return n + 1; }
DEF(one) DEF(two)
int main(int argc, char **argv) {
  std::vector<int> v{3, 1, 2};
  S s{4};
  int r = helper(v, argc) + one(2) + twice(argc) + s.get() + (int)twice(2.0);
  std::printf("%d\n", r);
  return 0;
}
