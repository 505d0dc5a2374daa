/* Any text through the assembler; what it takes and what then loads has a text form that assembles to the same bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bgraph/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool ok)
{
    if (!ok)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bg_buf image = {0}, text = {0}, again = {0};
    bg_error err = {0};
    bg_graph g;
    bg_status status = bg_image_asm((bg_str){(const char *)data, size}, &image, &err);
    if (status != BG_OK) {
        demand(image.len == 0 && err.text[0] != '\0' && err.offset <= size);
    } else if (bg_graph_load(&g, image.data, image.len, &err) == BG_OK) {
        demand(bg_image_disasm(&g, &text) == BG_OK);
        demand(bg_image_asm(bg_buf_view(&text), &again, &err) == BG_OK);
        demand(again.len == image.len && memcmp(again.data, image.data, image.len) == 0);
    }
    bg_buf_clear(&image);
    bg_buf_clear(&text);
    bg_buf_clear(&again);
    return 0;
}
