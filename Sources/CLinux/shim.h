#pragma once
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

// Linux's batch policy; glibc shows its name to _GNU_SOURCE alone.
enum { jejak_sched_batch = 3 };

// The type of the first parameter is an enum in C++ and an int in C.
static inline int jejak_set_thread_nice(int value) {
  return setpriority((int)PRIO_PROCESS, 0, value);
}

// `prctl` is variadic, which Swift can't call.
static inline int jejak_set_thread_name(const char *name) {
  return prctl(PR_SET_NAME, (unsigned long)name, 0, 0, 0);
}

// getopt keeps its state in C globals, which Swift 6 does not let code touch.

/// Makes the next call of getopt_long begin anew, and leaves the messages to the caller.
static inline void jejak_getopt_restart(void) {
  optind = 0;
  opterr = 0;
}

static inline char *jejak_getopt_argument(void) { return optarg; }

static inline int jejak_getopt_index(void) { return optind; }

// glibc shows these to _GNU_SOURCE alone.
extern int posix_spawn_file_actions_addchdir_np(
    posix_spawn_file_actions_t *restrict actions, const char *restrict path);
extern int posix_spawn_file_actions_addclosefrom_np(
    posix_spawn_file_actions_t *actions, int from);
enum { jejak_spawn_setsid = 0x80 };
