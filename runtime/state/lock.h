/** The lock of a state directory: one process writes at a time. An flock on a small file that holds the owner's pid, so
 *  that a waiting run can say for whom it waits; the kernel drops it with the process, however that ends. */
#ifndef BG_STATE_LOCK_H
#define BG_STATE_LOCK_H

#include "base/status.h"

/** Lock `path` (made if missing), waiting for as long as another process holds it. `waiting` (may be NULL) is called once with
 *  the holder's pid, 0 if unknown. *fd is closed with bg_state_unlock. */
BG_MUST_USE bg_status bg_state_lock(int *fd, const char *path, void (*waiting)(void *self, long pid), void *self,
                                    bg_error *err);
/** -1 is fine. */
void bg_state_unlock(int fd);

#endif
