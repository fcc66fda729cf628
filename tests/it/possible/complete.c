// Functions of which every input is tried: paths that did not run cannot run.
#include <stdio.h>

typedef unsigned char byte;
static volatile int sink;

int try_values(byte c) {
    int r = 0;
    if (c == 10) r |= 1;
    if (c == 6) r |= 2;
    if (c > 5) r |= 4;
    return r;
}

int try_ranges(signed char c) {
    int r = 0;
    if (c > 10) r |= 1;
    if (c < 5) r |= 2;
    if (c >= 0) r |= 4;
    return r;
}

int try_classes(byte c) {
    int r = 0;
    if (c >= '0' && c <= '9') r |= 1;
    if ((c | 32) >= 'a' && (c | 32) <= 'f') r |= 2;
    if (c == '_') r |= 4;
    return r;
}

int try_text(const char *s) {
    int r = 0;
    if (*s == 'a') r |= 1;
    if (*s == 'b') r |= 2;
    if (*s == 'a' || *s == 'c') r |= 4;
    return r;
}

int try_flag(byte c) {
    int found = 0, r = 0;
    if (c == 3) found = 1;
    if (found) r |= 1;
    if (c < 3) r |= 2;
    if (!found) r |= 4;
    return r;
}

int try_masks(byte c) {
    int r = 0;
    if (c & 1) r |= 1;
    if ((c & 3) == 3) r |= 2;
    if (!(c & 2)) r |= 4;
    return r;
}

int try_switch(byte c) {
    int r = 0;
    switch (c) {
    case 1: r = 1; break;
    case 2:
    case 3: r = 2; break;
    default: r = 3;
    }
    if (c == 2) r |= 4;
    if (r == 3) r |= 8;
    return r;
}

int try_order(byte x, byte y) {
    int r = 0;
    if (x < y) r |= 1;
    if (y < x) r |= 2;
    if (x == y) r |= 4;
    return r;
}

int try_chain(byte x, byte y) {
    int r = 0;
    if (x > 100) r |= 1;
    if (y <= x) r |= 2;
    if (y > 200) r |= 4;
    return r;
}

int try_sum(byte x) {
    int r = 0;
    if (x + 3 == 5) r |= 1;
    if (x * 2 == 4) r |= 2;
    if (x - 2 != 0) r |= 4;
    return r;
}

static const byte kinds[4] = {1, 1, 2, 3};

int try_table(byte c) {
    int r = 0, kind = kinds[2];
    if (kind == 2) r |= 1;
    if (kind == 3) r |= 2;
    if (c == kind) r |= 4;
    return r;
}

struct item {
    byte kind, size;
};

int try_fields(struct item *item) {
    int r = 0;
    if (item->kind == 1) r |= 1;
    if (item->size > 4) r |= 2;
    if (item->kind == 2) r |= 4;
    return r;
}

static byte kind_of(struct item *item) { return item->kind; }

int try_getter(struct item *item) {
    int r = 0;
    if (kind_of(item) == 1) r |= 1;
    if (kind_of(item) == 2) r |= 2;
    if (item->kind == 1) r |= 4;
    return r;
}

int try_array(byte c) {
    byte a[2];
    int r = 0;
    a[0] = c;
    a[1] = 7;
    if (a[0] == 1) r |= 1;
    if (a[1] == 7) r |= 2;
    if (a[0] > a[1]) r |= 4;
    return r;
}

int try_wrap(byte c) {
    int r = 0;
    if ((byte)(c + 1) < c) r |= 1;
    if (c == 255) r |= 2;
    if (c > 4) r |= 4;
    return r;
}

int try_shift(byte c) {
    int r = 0;
    if (c >> 4 == 3) r |= 1;
    if (c == 0x3f) r |= 2;
    if (c < 0x30) r |= 4;
    return r;
}

int try_choice(byte c) {
    int r = 0, low = c < 9 ? c : 9;
    if (low == 9) r |= 1;
    if (c == 4) r |= 2;
    if (low > 8) r |= 4;
    return r;
}

int try_store(struct item *item, byte c) {
    int r = 0;
    item->kind = c;
    item->size = 3;
    if (item->kind == 1) r |= 1;
    if (item->size == 3) r |= 2;
    if (c == 1) r |= 4;
    return r;
}

int main(void) {
    for (int c = 0; c < 256; c++) {
        char text[2] = {(char)c, 0};
        sink = try_values((byte)c) + try_ranges((signed char)c) + try_classes((byte)c) + try_text(text);
        sink = try_flag((byte)c) + try_masks((byte)c) + try_switch((byte)c) + try_sum((byte)c);
        sink = try_table((byte)c) + try_array((byte)c) + try_wrap((byte)c) + try_shift((byte)c);
        sink = try_choice((byte)c);
        for (int d = 0; d < 256; d++) {
            struct item item = {(byte)c, (byte)d};
            sink = try_order((byte)c, (byte)d) + try_chain((byte)c, (byte)d);
            sink = try_fields(&item) + try_getter(&item) + try_store(&item, (byte)d);
        }
    }
    return 0;
}
