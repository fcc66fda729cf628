// Values of several types by key: maps, variants, lambdas, a sort.
#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <variant>
#include <vector>

using Value = std::variant<int, double, std::string>;

struct Show {
    std::string operator()(int n) const { return n < 0 ? "negative" : std::to_string(n); }
    std::string operator()(double d) const { return std::to_string(d); }
    std::string operator()(const std::string &s) const { return s.empty() ? "''" : s; }
};

static std::map<std::string, std::vector<Value>> read(int n) {
    std::map<std::string, std::vector<Value>> all;
    for (int i = 0; i < n; i++) {
        auto &values = all["k" + std::to_string(i % 17)];
        if (i % 3 == 0)
            values.push_back(i);
        else if (i % 3 == 1)
            values.push_back(i / 2.0);
        else
            values.push_back(std::string("s") + std::to_string(i));
    }
    return all;
}

int main(int argc, char **argv) {
    auto all = read(argc > 1 ? std::stoi(argv[1]) : 2000);
    size_t length = 0;
    for (auto &[key, values] : all) {
        std::sort(values.begin(), values.end(), [](const Value &a, const Value &b) { return a.index() < b.index() || (a.index() == b.index() && a < b); });
        for (auto &v : values)
            length += std::visit(Show{}, v).size() + key.size();
    }
    std::cout << length << "\n";
}
