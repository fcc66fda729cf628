#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct Shape { virtual ~Shape() = default; virtual double area() const = 0; };
struct Square : Shape { double a; explicit Square(double a) : a(a) {} double area() const override { return a * a; } };
struct Circle : Shape { double r; explicit Circle(double r) : r(r) {} double area() const override { if (r < 0) throw std::invalid_argument("r"); return 3 * r * r; } };

template <class T, int N> struct Grid { T cell[N][N]; };

template <class T, int N> __attribute__((noinline)) T sum(const Grid<T, N> &g) {
    T s = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            if (g.cell[i][j] > 0) s += g.cell[i][j];
            else s -= g.cell[i][j] / 2;
    return s;
}

static std::unique_ptr<Shape> make(char kind, double x) {
    switch (kind) {
    case 's': return std::make_unique<Square>(x);
    case 'c': return std::make_unique<Circle>(x);
    default: throw std::runtime_error(std::string("kind ") + kind);
    }
}

enum class Tok { num, op, open, close, end };

struct Lexer {
    const char *p;
    Tok next(int &value) {
        while (*p == ' ' || *p == '\t') p++;
        if (!*p) return Tok::end;
        if (*p >= '0' && *p <= '9') {
            value = 0;
            while (*p >= '0' && *p <= '9') value = value * 10 + (*p++ - '0');
            return Tok::num;
        }
        char c = *p++;
        if (c == '(') return Tok::open;
        if (c == ')') return Tok::close;
        value = c;
        return Tok::op;
    }
};

static int eval(const char *text) {
    Lexer lexer{text};
    std::vector<int> stack;
    int value = 0, depth = 0;
    for (Tok t = lexer.next(value); t != Tok::end; t = lexer.next(value)) {
        switch (t) {
        case Tok::num: stack.push_back(value); break;
        case Tok::open: depth++; break;
        case Tok::close: if (--depth < 0) return -1; break;
        case Tok::op:
            if (stack.size() < 2) { depth += 0; break; }
            { int b = stack.back(); stack.pop_back(); int &a = stack.back(); a = value == '+' ? a + b : value == '*' ? a * b : a - b; }
            break;
        case Tok::end: break;
        }
    }
    return stack.empty() ? depth : stack.back();
}

int main() {
    Grid<int, 4> gi{}; Grid<double, 3> gd{};
    for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) gi.cell[i][j] = i - j;
    for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) gd.cell[i][j] = 0.5 * i - j;
    double total = sum(gi) + sum(gd);
    std::map<std::string, int> count;
    for (const char *k : {"s", "c", "x", "s"}) {
        try {
            auto shape = make(*k, k[0] == 'c' ? -1 : 2);
            total += shape->area();
            count[k]++;
        } catch (const std::invalid_argument &e) {
            count["invalid"]++;
        } catch (const std::exception &e) {
            count[e.what()]++;
        }
    }
    for (const auto &[k, n] : count) std::printf("%s %d\n", k.c_str(), n);
    std::printf("%g %d %d %d\n", total, eval("1 2 + (3 *)"), eval(")"), eval("  "));
}
