// Rays through spheres, planes and boxes, with mirrors, glass and shadows. ray WIDTH OBJECTS SEED
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

namespace {

struct Vec {
    double x, y, z;
    Vec operator+(const Vec &o) const { return {x + o.x, y + o.y, z + o.z}; }
    Vec operator-(const Vec &o) const { return {x - o.x, y - o.y, z - o.z}; }
    Vec operator*(double by) const { return {x * by, y * by, z * by}; }
    double dot(const Vec &o) const { return x * o.x + y * o.y + z * o.z; }
    Vec unit() const { return *this * (1 / std::sqrt(dot(*this))); }
};

struct Ray {
    Vec from, along;
};

enum class Surface { Dull, Mirror, Glass };

class Object {
public:
    Object(Surface surface, Vec colour) : surface(surface), colour(colour) {}
    virtual ~Object() = default;
    /// How far along the ray it is hit; 0 if it is not.
    virtual double hit(const Ray &ray) const = 0;
    virtual Vec normal(const Vec &at) const = 0;
    const Surface surface;
    const Vec colour;
};

class Sphere final : public Object {
public:
    Sphere(Surface s, Vec colour, Vec centre, double radius) : Object(s, colour), centre(centre), radius(radius) {}
    double hit(const Ray &ray) const override {
        Vec to = centre - ray.from;
        double along = to.dot(ray.along), square = radius * radius - to.dot(to) + along * along;
        if (square < 0)
            return 0;
        double half = std::sqrt(square);
        if (along - half > 1e-6)
            return along - half;
        return along + half > 1e-6 ? along + half : 0;
    }
    Vec normal(const Vec &at) const override { return (at - centre) * (1 / radius); }

private:
    Vec centre;
    double radius;
};

class Floor final : public Object {
public:
    using Object::Object;
    double hit(const Ray &ray) const override {
        if (std::fabs(ray.along.y) < 1e-9)
            return 0;
        double far = -ray.from.y / ray.along.y;
        return far > 1e-6 && far < 100 ? far : 0;
    }
    Vec normal(const Vec &) const override { return {0, 1, 0}; }
};

class Box final : public Object {
public:
    Box(Surface s, Vec colour, Vec low, Vec high) : Object(s, colour), low(low), high(high) {}
    double hit(const Ray &ray) const override {
        double near = 1e-6, far = 1e9;
        if (!clip(ray.from.x, ray.along.x, low.x, high.x, near, far) ||
            !clip(ray.from.y, ray.along.y, low.y, high.y, near, far) ||
            !clip(ray.from.z, ray.along.z, low.z, high.z, near, far))
            return 0;
        return near > 1e-6 ? near : 0;
    }
    Vec normal(const Vec &at) const override {
        if (std::fabs(at.x - low.x) < 1e-6)
            return {-1, 0, 0};
        if (std::fabs(at.x - high.x) < 1e-6)
            return {1, 0, 0};
        if (std::fabs(at.y - low.y) < 1e-6)
            return {0, -1, 0};
        if (std::fabs(at.y - high.y) < 1e-6)
            return {0, 1, 0};
        return {0, 0, at.z < (low.z + high.z) / 2 ? -1.0 : 1.0};
    }

private:
    static bool clip(double from, double along, double low, double high, double &near, double &far) {
        if (along == 0)
            return from >= low && from <= high;
        double a = (low - from) / along, b = (high - from) / along;
        if (a > b)
            std::swap(a, b);
        if (a > near)
            near = a;
        if (b < far)
            far = b;
        return near <= far;
    }
    Vec low, high;
};

std::vector<std::unique_ptr<Object>> objects;
const Vec light = {-4, 10, -6};
unsigned state;

double next_random() {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) / 16777216.0;
}

const Object *nearest(const Ray &ray, double &far) {
    const Object *found = nullptr;
    for (const auto &o : objects) {
        double d = o->hit(ray);
        if (d > 0 && d < far) {
            far = d;
            found = o.get();
        }
    }
    return found;
}

Vec trace(const Ray &ray, int depth) {
    double far = 1e9;
    const Object *o = nearest(ray, far);
    if (o == nullptr)
        return ray.along.y > 0 ? Vec{0.4, 0.5, 0.8} * ray.along.y : Vec{0.1, 0.1, 0.1};
    Vec at = ray.from + ray.along * far, normal = o->normal(at);
    double facing = normal.dot(ray.along);
    if (depth > 0 && o->surface == Surface::Mirror)
        return trace({at, ray.along - normal * (2 * facing)}, depth - 1) * 0.8 + o->colour * 0.1;
    if (depth > 0 && o->surface == Surface::Glass) {
        double ratio = facing < 0 ? 1 / 1.5 : 1.5, cosine = std::fabs(facing);
        double square = 1 - ratio * ratio * (1 - cosine * cosine);
        Vec outward = facing < 0 ? normal : normal * -1.0;
        if (square > 0)
            return trace({at, ray.along * ratio + outward * (ratio * cosine - std::sqrt(square))}, depth - 1);
        return trace({at, ray.along + outward * (2 * cosine)}, depth - 1);
    }
    Vec to = light - at;
    double reach = std::sqrt(to.dot(to)), bright = normal.dot(to) / reach;
    if (bright < 0 || nearest({at, to * (1 / reach)}, reach) != nullptr)
        bright = 0;
    return o->colour * (0.1 + 0.9 * bright);
}

Surface surface_of(int i) { return i % 3 == 0 ? Surface::Mirror : i % 5 == 0 ? Surface::Glass : Surface::Dull; }

} // namespace

int main(int argc, char **argv) {
    int width = argc > 1 ? std::atoi(argv[1]) : 40, count = argc > 2 ? std::atoi(argv[2]) : 10;
    state = argc > 3 ? static_cast<unsigned>(std::atoi(argv[3])) : 1;
    objects.push_back(std::make_unique<Floor>(Surface::Dull, Vec{0.6, 0.6, 0.5}));
    for (int i = 0; i < count; i++) {
        Vec at = {next_random() * 8 - 4, next_random() * 3 + 0.5, next_random() * 8};
        Vec c = {next_random(), next_random(), next_random()};
        if (i % 2 == 0)
            objects.push_back(std::make_unique<Sphere>(surface_of(i), c, at, 0.3 + next_random()));
        else
            objects.push_back(std::make_unique<Box>(surface_of(i), c, at, at + Vec{0.7, 0.9, 0.6}));
    }
    double sum = 0;
    for (int y = 0; y < width; y++)
        for (int x = 0; x < width; x++) {
            Vec along = {(x + 0.5) / width - 0.5, 0.4 - static_cast<double>(y) / width, 1};
            Vec seen = trace({{0, 2, -6}, along.unit()}, 5);
            sum += seen.x + 2 * seen.y + 3 * seen.z;
        }
    std::printf("%.6f\n", sum);
    return 0;
}
