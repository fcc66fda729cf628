// Expressions that are parsed into trees, made simpler, and computed: C++ with containers, virtual functions and exceptions.
// parser EXPRESSIONS TIMES
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Variables = std::map<std::string, long>;

struct Node {
    virtual ~Node() = default;
    virtual long value(const Variables &variables) const = 0;
    virtual bool is_constant() const { return false; }
};
using Tree = std::unique_ptr<Node>;

struct Number final : Node {
    explicit Number(long n) : n(n) {}
    long value(const Variables &) const override { return n; }
    bool is_constant() const override { return true; }
    long n;
};

struct Name final : Node {
    explicit Name(std::string name) : name(std::move(name)) {}
    long value(const Variables &variables) const override {
        auto found = variables.find(name);
        if (found == variables.end())
            throw std::out_of_range(name);
        return found->second;
    }
    std::string name;
};

struct Operation final : Node {
    Operation(char op, Tree left, Tree right) : op(op), left(std::move(left)), right(std::move(right)) {}
    long value(const Variables &variables) const override {
        auto a = static_cast<unsigned long>(left->value(variables)), b = static_cast<unsigned long>(right->value(variables));
        switch (op) {
        case '+': return static_cast<long>(a + b);
        case '-': return static_cast<long>(a - b);
        case '*': return static_cast<long>(a * b);
        default: return b == 0 ? 0 : static_cast<long>(a / b);
        }
    }
    bool is_constant() const override { return left->is_constant() && right->is_constant(); }
    char op;
    Tree left, right;
};

class Parser {
public:
    explicit Parser(const std::string &text) : text(text) {}
    Tree all() {
        Tree tree = sum();
        skip();
        if (at != text.size())
            throw std::invalid_argument("something is left");
        return tree;
    }

private:
    void skip() {
        while (at < text.size() && text[at] == ' ')
            at++;
    }
    bool take(char c) {
        skip();
        if (at == text.size() || text[at] != c)
            return false;
        at++;
        return true;
    }
    Tree sum() {
        Tree left = product();
        for (;;) {
            if (take('+'))
                left = make('+', std::move(left), product());
            else if (take('-'))
                left = make('-', std::move(left), product());
            else
                return left;
        }
    }
    Tree product() {
        Tree left = atom();
        for (;;) {
            if (take('*'))
                left = make('*', std::move(left), atom());
            else if (take('/'))
                left = make('/', std::move(left), atom());
            else
                return left;
        }
    }
    Tree atom() {
        if (take('(')) {
            Tree inside = sum();
            if (!take(')'))
                throw std::invalid_argument("no )");
            return inside;
        }
        skip();
        size_t begin = at;
        if (at < text.size() && text[at] >= '0' && text[at] <= '9') {
            long n = 0;
            for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; at++)
                n = n * 10 + (text[at] - '0');
            return std::make_unique<Number>(n);
        }
        while (at < text.size() && text[at] >= 'a' && text[at] <= 'z')
            at++;
        if (at == begin)
            throw std::invalid_argument("nothing here");
        return std::make_unique<Name>(text.substr(begin, at - begin));
    }
    static Tree make(char op, Tree left, Tree right) {
        Tree made = std::make_unique<Operation>(op, std::move(left), std::move(right));
        return made->is_constant() ? std::make_unique<Number>(made->value({})) : std::move(made);
    }
    const std::string &text;
    size_t at = 0;
};

unsigned state = 23;

unsigned draw(unsigned below) {
    state = state * 1664525u + 1013904223u;
    return (state >> 10) % below;
}

void write(std::string &to, int depth) {
    static const char *const names[] = {"alpha", "beta", "x", "y", "length", "n"};
    if (depth == 0 || draw(8) == 0) {
        if (draw(2) == 0)
            to += std::to_string(draw(1000));
        else
            to += names[draw(100) == 0 ? 5 : draw(5)];
        return;
    }
    bool inside = draw(3) == 0;
    to += inside ? "(" : "";
    write(to, depth - 1);
    to += ' ';
    to += "+-*/"[draw(4)];
    to += ' ';
    write(to, depth - 1);
    to += inside ? ")" : draw(500) == 0 ? " ?" : "";
}

} // namespace

int main(int argc, char **argv) {
    int expressions = argc > 1 ? std::atoi(argv[1]) : 100, times = argc > 2 ? std::atoi(argv[2]) : 1;
    std::vector<std::string> texts(static_cast<size_t>(expressions));
    for (auto &text : texts)
        write(text, 6);
    Variables variables{{"alpha", 3}, {"beta", 5}, {"x", 7}, {"y", 11}, {"length", 13}};
    unsigned long sum = 0;
    long wrong = 0, unknown = 0;
    for (int t = 0; t < times; t++)
        for (const auto &text : texts) {
            try {
                Tree tree = Parser(text).all();
                for (int i = 0; i < 3; i++) {
                    variables["x"] = i;
                    sum += static_cast<unsigned long>(tree->value(variables));
                }
            } catch (const std::invalid_argument &) {
                wrong++;
            } catch (const std::out_of_range &) {
                unknown++;
            }
        }
    std::printf("%lu %ld %ld\n", sum, wrong, unknown);
    return 0;
}
