/** A host for tests: processes follow scripts on a virtual clock, nothing sleeps, jobs run where they are submitted. Files that a
 *  script writes are real. One owner, one thread. */
#ifndef BG_HOST_HOST_FAKE_H
#define BG_HOST_HOST_FAKE_H

#include "host/host.h"

typedef enum {
    BG_FAKE_OUT,    /* `text` on standard output */
    BG_FAKE_ERR,    /* `text` on standard error, where that is split off */
    BG_FAKE_SIGNAL, /* `text` on the signal pipe */
    BG_FAKE_WRITE,  /* make the file that argument `arg` names, with `text` in it */
    BG_FAKE_ARTIFACT, /* a rustc artifact notification of the file that argument `arg` names */
    BG_FAKE_EXIT    /* end with `code`; every script needs one */
} bg_fake_kind;

typedef struct {
    uint64_t at_ns; /* since the process started; ascending */
    bg_fake_kind kind;
    int arg, code;
    const char *text;
} bg_fake_step;

/** What a process does whose second word (argv[1]) is `word`. Arrays end with a row whose word is NULL. */
typedef struct {
    const char *word;
    unsigned start;      /* 1: only the first process with this word, 2: the second …; 0: any */
    bool stubborn;       /* ends by SIGKILL alone */
    bg_fake_step steps[8]; /* up to the first BG_FAKE_EXIT */
} bg_fake_script;

/** `scripts` must outlive the host. NULL when memory is out. */
bg_host *bg_host_fake_new(const bg_fake_script *scripts);
/** Deliver a signal at a time of the virtual clock. At most 4. */
void bg_host_fake_interrupt(bg_host *host, uint64_t at_ns, int signal);
/** Most processes that ran at one time. */
unsigned bg_host_fake_most(const bg_host *host);

#endif
