#include "image/tables.h"

#include <string.h>

/* The tables name section ids by tag (STRI) and enum bounds by constant; both come through these. */
#define TARGET_U32(t) 0
#define TARGET_ENUM(t) (uint32_t)(t)
#define TARGET_REF(t) BG_SEC_##t
#define TARGET_REF0(t) BG_SEC_##t
#define TARGET_FIRST(t) BG_SEC_##t
#define TARGET_COUNT(t) BG_SEC_##t

#define BG_BYTES(tag, member, doc)
#define BG_SECTION(tag, member, doc) static const bg_field_info fields_##member[] = {
#define BG_FIELD(tag, member, field, shape, target, doc) {#field, BG_SHAPE_##shape, TARGET_##shape(target)},
#define BG_SECTION_END(tag, member)                                                                \
    }                                                                                              \
    ;                                                                                              \
    _Static_assert(sizeof(bg_img_##member) == 4 * sizeof fields_##member / sizeof fields_##member[0] &&                  \
                       sizeof(bg_img_##member) <= 4 * BG_IMAGE_MAX_FIELDS,                         \
                   "a record is an array of at most BG_IMAGE_MAX_FIELDS uint32");
#include "image/sections.def"
#undef BG_BYTES
#undef BG_SECTION
#undef BG_FIELD
#undef BG_SECTION_END

/* STRI and PROG begin with offset and length of what they hold in STRB and CODE. */
#define N_DERIVED(section) ((section) == BG_SEC_STRI || (section) == BG_SEC_PROG ? 2 : 0)

const bg_section_info bg_section_table[BG_SEC_COUNT] = {
    [BG_SEC_NONE] = {"", "", false, 0, 0, NULL},
#define BG_BYTES(tag, member, doc) [BG_SEC_##tag] = {#tag, #member, true, 0, 0, NULL},
#define BG_SECTION(tag, member, doc)                                                               \
    [BG_SEC_##tag] = {                                                                             \
        #tag, #member, false, sizeof fields_##member / sizeof fields_##member[0], N_DERIVED(BG_SEC_##tag), fields_##member},
#define BG_FIELD(tag, member, field, shape, target, doc)
#define BG_SECTION_END(tag, member)
#include "image/sections.def"
#undef BG_BYTES
#undef BG_SECTION
#undef BG_FIELD
#undef BG_SECTION_END
};

#define TARGET_NONE(t) 0
#define TARGET_JUMP(t) 0
const bg_op_info bg_op_table[BG_OP_COUNT] = {
#define BG_OP(name, mnemonic, shape, target, pops, pushes, doc)                                    \
    [BG_OP_##name] = {mnemonic, BG_OPERAND_##shape, TARGET_##shape(target), pops, pushes},
#include "image/ops.def"
#undef BG_OP
};

bg_section_id bg_section_by_tag(const char tag[4])
{
    for (uint32_t s = 1; s < BG_SEC_COUNT; s++) {
        if (memcmp(bg_section_table[s].tag, tag, 4) == 0)
            return (bg_section_id)s;
    }
    return BG_SEC_NONE;
}
