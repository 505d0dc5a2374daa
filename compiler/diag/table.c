/* The rows of diags.def. */
#include "bgraph/diag.h"

static const bg_diag_info infos[] = {
#define BG_DIAG(number, name, severity, text, explanation, example)                                \
    {number, #name, BG_SEVERITY_##severity, text, explanation, example},
#include "diags.def"
#undef BG_DIAG
};
enum { N_INFOS = sizeof infos / sizeof infos[0] };

const bg_diag_info *bg_diag_find(uint32_t number)
{
    for (uint32_t i = 0; i < N_INFOS; i++)
        if (infos[i].number == number)
            return &infos[i];
    return NULL;
}

const bg_diag_info *bg_diag_at(uint32_t index)
{
    return index < N_INFOS ? &infos[index] : NULL;
}
