/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The runtime's interface for programs. The functions are weak, so a program that also links
 * without the runtime asks first:  if (p3_profile_dump) p3_profile_dump(); */
#ifndef P3_PROFILE_H
#define P3_PROFILE_H

#ifdef __cplusplus
extern "C" {
#endif

/* Writes what was counted so far; at exit the file is written anew. 0, or -1 on failure. */
int p3_profile_dump(void) __attribute__((weak));

/* Sets all counts to zero. Paths under way are counted when they end. */
void p3_profile_reset(void) __attribute__((weak));

/* The pattern that counts where the environment has no P3_PROFILE_FILE, if the program, or whoever links it, defines
 * one. */
extern const char p3_profile_file[] __attribute__((weak, visibility("hidden")));

#ifdef __cplusplus
}
#endif

#endif
