#include "event/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bg_status bg_writer_open(bg_writer *writer, const char *path, bool append, bg_error *err)
{
    *writer = (bg_writer){.owned = true};
    size_t n = strlen(path) + 1;
    writer->path = malloc(n);
    if (writer->path == NULL)
        return bg_error_set(err, BG_E_NOMEM, "Out of memory while opening %s.", path);
    memcpy(writer->path, path, n);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (append ? O_APPEND : O_TRUNC), 0666);
    int os_error = errno;
    if (fd >= 0) {
        writer->file = fdopen(fd, append ? "a" : "w");
        os_error = errno;
    }
    if (writer->file != NULL)
        return BG_OK;
    if (fd >= 0)
        close(fd);
    free(writer->path);
    *writer = (bg_writer){0};
    return bg_error_os(err, os_error, "%s can't be opened for writing", path);
}

void bg_writer_borrow(bg_writer *writer, FILE *file)
{
    *writer = (bg_writer){.file = file};
}

static void note_failure(bg_writer *writer)
{
    if (writer->os_error == 0)
        writer->os_error = errno == 0 ? EIO : errno;
}

void bg_writer_put(bg_writer *writer, const bg_buf *bytes)
{
    if (bytes->failed && writer->os_error == 0)
        writer->os_error = ENOMEM;
    if (writer->os_error != 0 || bytes->len == 0)
        return;
    errno = 0;
    if (fwrite(bytes->data, 1, bytes->len, writer->file) != bytes->len)
        note_failure(writer);
}

void bg_writer_flush(bg_writer *writer)
{
    errno = 0;
    if (writer->os_error == 0 && fflush(writer->file) != 0)
        note_failure(writer);
}

bg_status bg_writer_close(bg_writer *writer, bg_error *err)
{
    bg_status status = BG_OK;
    bg_writer_flush(writer);
    errno = 0;
    if (writer->owned && fclose(writer->file) != 0)
        note_failure(writer);
    if (writer->os_error != 0)
        status = bg_error_os(err, writer->os_error, "%s can't be written",
                             writer->path == NULL ? "The report of the run" : writer->path);
    free(writer->path);
    *writer = (bg_writer){0};
    return status;
}
