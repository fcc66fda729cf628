// A pool of threads that take tasks from a queue: texts are made, split into words, counted and sorted. Arguments:
// threads, tasks. What tasks do does not depend on who does them; how often a thread waits does.
#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

class Pool {
public:
    explicit Pool(unsigned threads) {
        for (unsigned i = 0; i < threads; i++)
            members.emplace_back([this] { serve(); });
    }
    ~Pool() {
        {
            std::lock_guard<std::mutex> lock(mutex);
            is_over = true;
        }
        wake.notify_all();
        for (auto &member : members)
            member.join();
    }
    std::future<uint64_t> add(std::function<uint64_t()> task) {
        std::packaged_task<uint64_t()> packaged(std::move(task));
        auto result = packaged.get_future();
        {
            std::lock_guard<std::mutex> lock(mutex);
            tasks.push_back(std::move(packaged));
        }
        wake.notify_one();
        return result;
    }

private:
    void serve() {
        for (;;) {
            std::packaged_task<uint64_t()> task;
            {
                std::unique_lock<std::mutex> lock(mutex);
                wake.wait(lock, [this] { return is_over || !tasks.empty(); });
                if (tasks.empty())
                    return;
                task = std::move(tasks.front());
                tasks.pop_front();
            }
            task();
        }
    }
    std::mutex mutex;
    std::condition_variable wake;
    std::deque<std::packaged_task<uint64_t()>> tasks;
    std::vector<std::thread> members;
    bool is_over = false;
};

static std::string text_of(uint32_t seed, size_t length) {
    std::string text;
    while (text.size() < length) {
        seed = seed * 1664525u + 1013904223u;
        uint32_t n = seed >> 16;
        if (n % 6 == 0)
            text += n % 12 ? ' ' : '\n';
        else
            text += static_cast<char>('a' + n % 7);
    }
    return text;
}

static std::vector<std::string> words_of(const std::string &text) {
    std::vector<std::string> words;
    std::string word;
    for (char c : text) {
        if (c != ' ' && c != '\n') {
            word += c;
        } else if (!word.empty()) {
            words.push_back(word);
            word.clear();
        }
    }
    return words;
}

static uint64_t task(uint32_t seed) {
    auto words = words_of(text_of(seed, 30000));
    std::unordered_map<std::string, unsigned> counts;
    for (auto &word : words)
        counts[word]++;
    std::sort(words.begin(), words.end(), [&](const std::string &a, const std::string &b) {
        unsigned x = counts[a], y = counts[b];
        return x != y ? x > y : a < b;
    });
    uint64_t sum = 0;
    for (size_t i = 0; i < words.size(); i += 17)
        for (char c : words[i])
            sum = sum * 31 + static_cast<unsigned char>(c);
    return sum;
}

int main(int argc, char **argv) {
    unsigned threads = argc > 1 ? atoi(argv[1]) : 4, tasks = argc > 2 ? atoi(argv[2]) : 200;
    uint64_t sum = 0;
    Pool pool(threads);
    std::vector<std::future<uint64_t>> results;
    for (unsigned i = 0; i < tasks; i++)
        results.push_back(pool.add([i] { return task(i * 7919); }));
    for (auto &result : results)
        sum = sum * 3 + result.get();
    printf("%llu\n", static_cast<unsigned long long>(sum));
}
