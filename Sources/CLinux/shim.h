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
