#include "event/github.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define TOKEN_BYTES 16

static bool read_random(unsigned char *bytes, size_t n)
{
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    size_t got = 0;
    while (fd >= 0 && got < n) {
        ssize_t r = read(fd, bytes + got, n - got);
        if (r > 0)
            got += (size_t)r;
        else if (r == 0 || errno != EINTR)
            break;
    }
    if (fd >= 0)
        close(fd);
    return got == n;
}

static bool make_token(char *token)
{
    static const char hex[] = "0123456789abcdef";
    unsigned char bytes[TOKEN_BYTES];
    if (!read_random(bytes, sizeof bytes))
        return false;
    for (size_t i = 0; i < sizeof bytes; i++) {
        token[2 * i] = hex[bytes[i] >> 4];
        token[2 * i + 1] = hex[bytes[i] & 15];
    }
    token[2 * sizeof bytes] = '\0';
    return true;
}

/* The data of a command is one line; the runner undoes these three. */
static void put_data(bg_buf *out, bg_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (c == '%' || c == '\r' || c == '\n')
            bg_buf_printf(out, "%%%02X", (unsigned)c);
        else
            bg_buf_putc(out, c);
    }
}

void bg_github_open(bg_fence *fence, bg_str label, bg_buf *out, bool *ok)
{
    *ok = make_token(fence->token);
    if (!*ok) {
        fence->token[0] = '\0';
        return;
    }
    bg_github_note("group", label, out);
    bg_buf_printf(out, "::stop-commands::%s\n", fence->token);
}

void bg_github_close(bg_fence *fence, bg_buf *out)
{
    if (fence->token[0] == '\0')
        return;
    bg_buf_printf(out, "::%s::\n::endgroup::\n", fence->token);
    fence->token[0] = '\0';
}

void bg_github_note(const char *kind, bg_str text, bg_buf *out)
{
    bg_buf_printf(out, "::%s::", kind);
    put_data(out, text);
    bg_buf_putc(out, '\n');
}

void bg_github_defuse(bg_buf *line)
{
    char *at = line->data;
    while (at != NULL && (at = strstr(at, "##[")) != NULL)
        at[1] = ' ';
}
