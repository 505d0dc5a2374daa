/** What the scheduler asks of the operating system: processes with pipes, worker threads, one clock, interrupts; all of it
 *  behind one table, so that tests run scripted processes on a virtual clock. A host belongs to the scheduler's thread;
 *  `run` functions of jobs are called on worker threads (the fake host calls them at once). */
#ifndef BG_HOST_HOST_H
#define BG_HOST_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct bg_host bg_host;

/** Descriptor number that a child finds its signal pipe at. */
enum { BG_HOST_SIGNAL_FD = 3 };

typedef enum { BG_STREAM_OUT, BG_STREAM_ERR, BG_STREAM_SIGNAL, BG_STREAM_COUNT } bg_stream;

/** One process, in a group of its own, standard input from /dev/null, no other descriptor inherited. Strings are borrowed
 *  for the call. */
typedef struct {
    char *const *argv; /* argv[0]: absolute path of the program */
    char *const *envp;
    const char *cwd;
    const char *stdout_path; /* NULL: the pipe; else made or truncated */
    bool split_stderr;       /* standard error comes as BG_STREAM_ERR instead of BG_STREAM_OUT */
    bool signal_pipe;        /* descriptor 3 is a pipe that comes as BG_STREAM_SIGNAL */
} bg_host_command;

typedef enum {
    BG_HOST_TIMER,    /* the deadline of the wait has passed */
    BG_HOST_OUTPUT,   /* bytes of a process; borrowed until the next wait */
    BG_HOST_EXIT,     /* a process has ended and all its output was delivered; its id is void from here on */
    BG_HOST_JOB,      /* a job has run */
    BG_HOST_INTERRUPT /* the person, or the system, wants the run to stop */
} bg_host_event_kind;

typedef struct {
    bg_host_event_kind kind;
    void *tag; /* of the process or the job */
    bg_stream stream;
    const char *bytes;
    size_t n;
    int exit_code; /* 128 + signal when one ended it */
    uint64_t user_ns, sys_ns, max_rss_bytes;
    int signal; /* BG_HOST_INTERRUPT */
} bg_host_event;

/** `worker` counts from 0 and is below `n_workers`; two jobs never run on one worker at a time. */
typedef void (*bg_host_job)(void *arg, unsigned worker);

struct bg_host {
    unsigned n_workers;
    uint64_t (*now_ns)(bg_host *host);  /* monotonic */
    int64_t (*unix_s)(bg_host *host); /* for people and records only */
    /** *proc is never 0. A program that can't be started is BG_E_NOENT, BG_E_ACCESS …: err->text names it. */
    bg_status (*spawn)(bg_host *host, const bg_host_command *command, void *tag, uint64_t *proc, bg_error *err);
    /** Signal a process' whole group. */
    void (*kill_group)(bg_host *host, uint64_t proc, int signal);
    /** Run job(arg) on a worker; threads start with the first one. */
    bg_status (*submit)(bg_host *host, bg_host_job job, void *arg, bg_error *err);
    /** The next event; BG_HOST_TIMER at `deadline_ns` (UINT64_MAX: none). */
    bg_status (*wait)(bg_host *host, uint64_t deadline_ns, bg_host_event *out, bg_error *err);
    /** Waits for jobs that run; processes must have ended. */
    void (*free)(bg_host *host);
};

/** The real one. Takes over SIGINT, SIGTERM and SIGHUP until it is freed; one at a time in a process.
 *  n_workers is at least 1. NULL with err on failure. */
bg_host *bg_host_posix_new(unsigned n_workers, bg_error *err);
/** How many processes can be watched at once with the files that this process may open; at least 1. */
unsigned bg_host_posix_max_procs(void);

#endif
