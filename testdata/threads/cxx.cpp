// std::thread, std::async, and objects of threads whose destructors count.
#include "truth.h"
#include <future>
#include <thread>
#include <vector>

struct AtEnd {
    slot *own = take_slot();
    ~AtEnd() { work(own, 17, 100); }
};

thread_local AtEnd at_end;

static long rounds;

static void run(unsigned seed) {
    at_end.own->process = (uint64_t)getpid();
    work(take_slot(), seed, rounds);
}

static unsigned thrown_by(unsigned seed) {
    run(seed);
    if (seed % 2)
        throw seed;
    return seed;
}

int main(int argc, char **argv) {
    rounds = argc > 1 ? atol(argv[1]) : 1000;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 6; i++)
        threads.emplace_back(run, i);
    std::vector<std::future<unsigned>> results;
    for (unsigned i = 0; i < 6; i++)
        results.push_back(std::async(std::launch::async, thrown_by, i));
    unsigned sum = 0;
    for (auto &result : results) {
        try {
            sum += result.get();
        } catch (unsigned seed) {
            sum += seed;
        }
    }
    for (auto &thread : threads)
        thread.join();
    return sum != 15;
}
