/* Between the runtime's own files. */
#ifndef P3_INTERNAL_H
#define P3_INTERNAL_H

#include "p3_abi.h"

#include <stdarg.h>
#include <stddef.h>

#define P3_LOCAL __attribute__((visibility("hidden")))

/* p3_table.c */
P3_LOCAL void p3_table_reset(struct p3_table *table);

/* p3_register.c */
P3_LOCAL void p3_count_lost(void);

/* p3_write.c: writes the profile of `modules` to `path`; 0, or -1 with a message printed. */
P3_LOCAL int p3_write(const struct p3_module *modules, const char *path);

/* p3_name.c: the profile's file name by P3_PROFILE_FILE; `child`: of a forked process. Makes
 * missing folders. -1 with a message printed. */
P3_LOCAL int p3_file_name(char *out, size_t size, uint32_t copy, int child);
/* One line on stderr: "p3: SUBJECT: PROBLEM". */
P3_LOCAL void p3_complain(const char *subject, const char *problem);

#endif
