#define END __builtin_trap()
#include "ending.h"
