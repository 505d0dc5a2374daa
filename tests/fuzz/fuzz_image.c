/* Any bytes as an image, with the checksum made right: whatever loads runs, disassembles, and assembles to the same bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/image/sample.h"
#include "image/layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool ok)
{
    if (!ok)
        abort();
}

static void run_programs(const bg_graph *g)
{
    for (uint32_t p = 1; p < g->n_progs; p++) {
        bg_arena arena = {0};
        bg_value v = {0};
        bg_error err = {0};
        bg_status status = bg_vm_run(g, p, &sample_host, &arena, &v, &err);
        demand(status == BG_OK ? v.kind != BG_V_NONE : err.text[0] != '\0');
        bg_arena_clear(&arena);
    }
}

static void round_trip(const bg_graph *g)
{
    bg_buf text = {0}, again = {0};
    bg_error err = {0};
    demand(bg_image_disasm(g, &text) == BG_OK);
    demand(bg_image_asm(bg_buf_view(&text), &again, &err) == BG_OK);
    demand(again.len == g->size_bytes && memcmp(again.data, g->bytes, again.len) == 0);
    bg_buf_clear(&text);
    bg_buf_clear(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char *bytes = malloc(size + 1);
    demand(bytes != NULL);
    if (size != 0)
        memcpy(bytes, data, size);
    if (size >= BG_IMAGE_HEADER_BYTES) {
        memcpy(bytes, BG_IMAGE_MAGIC, 16);
        bg_layout_seal(bytes, size);
    }
    bg_graph g;
    bg_error err = {0};
    bg_status status = bg_graph_load(&g, bytes, size, &err);
    if (status == BG_OK) {
        run_programs(&g);
        round_trip(&g);
    } else {
        demand(err.text[0] != '\0' && err.offset <= size);
    }
    free(bytes);
    return 0;
}
