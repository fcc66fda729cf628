#include "shape.h"

#include <cstdlib>
#include <iostream>
#include <stdexcept>

extern "C" int common(int n);

static int area(int kind, int n) {
    if (kind > 2)
        throw std::out_of_range("kind");
    return shape_area(kind, n, common(n));
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        try {
            std::cout << area(std::atoi(argv[i]), i) << '\n';
        } catch (const std::out_of_range &e) {
            std::cout << "no " << e.what() << '\n';
        }
    }
}
