/* Lines of standard error of a rustc, as a hostile compiler might print them. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "exec/exec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const bg_cache_output outputs[] = {{.name = {"meta", 4}, .path = {"libx.rmeta", 10}}};
    const char *text = (const char *)data;
    size_t begin = 0;
    for (size_t i = 0; i <= size; i++) {
        if (i < size && text[i] != '\n')
            continue;
        bg_buf shown = {0};
        size_t output;
        bg_status status = bg_signal_rustc_line((bg_str){text + begin, i - begin}, BG_STR("/o"), BG_STR("/o"), outputs, 1,
                                                &shown, &output);
        if (status == BG_OK && output != SIZE_MAX && output != 0)
            abort();
        bg_buf_clear(&shown);
        begin = i + 1;
    }
    return 0;
}
