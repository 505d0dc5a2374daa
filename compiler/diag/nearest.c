/* "Did you mean": the nearest name by Damerau-Levenshtein distance (adjacent swaps count once), case ignored. */
#include "bgraph/diag.h"

enum { NAME_MAX_LEN = 64 };

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Both at most NAME_MAX_LEN long. Three rows: before last, last, this. */
static uint32_t distance(bg_str a, bg_str b)
{
    uint32_t rows[3][NAME_MAX_LEN + 1];
    uint32_t *older = rows[0], *old = rows[1], *row = rows[2];
    for (uint32_t j = 0; j <= b.len; j++)
        old[j] = j;
    for (uint32_t i = 1; i <= a.len; i++) {
        row[0] = i;
        for (uint32_t j = 1; j <= b.len; j++) {
            char x = lower(a.ptr[i - 1]), y = lower(b.ptr[j - 1]);
            row[j] = least(least(old[j], row[j - 1]) + 1, old[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == lower(b.ptr[j - 2]) && lower(a.ptr[i - 2]) == y)
                row[j] = least(row[j], older[j - 2] + 1);
        }
        uint32_t *free_row = older;
        older = old;
        old = row;
        row = free_row;
    }
    return old[b.len];
}

bg_str bg_diag_nearest(bg_str name, const bg_str *names, uint32_t n)
{
    bg_str best = {0};
    if (name.len == 0 || name.len > NAME_MAX_LEN)
        return best;
    uint32_t most = name.len < 3 ? 1 : (uint32_t)name.len / 3, best_distance = most + 1;
    for (uint32_t i = 0; i < n; i++) {
        if (names[i].len == 0 || names[i].len > NAME_MAX_LEN)
            continue;
        uint32_t d = distance(name, names[i]);
        if (d < best_distance && d < name.len) { /* not every letter changed */
            best_distance = d;
            best = names[i];
        }
    }
    return best;
}
