/* pthread_exit in main: its frames are left behind, the process ends with the last thread. */
#include <pthread.h>
#define END pthread_exit(NULL)
#include "ending.h"
