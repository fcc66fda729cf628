#include <stdlib.h>
#define END abort()
#include "ending.h"
