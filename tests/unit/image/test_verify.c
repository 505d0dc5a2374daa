/* The verifier: cut images, changed bytes, records and programs that lie. Nothing crashes, everything wrong is refused with its
 * place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "image/layout.h"
#include "sample.h"

/* Load exactly `n` bytes from the heap, so that the sanitizer sees a read behind them. */
static bg_status load_copy(const char *bytes, size_t n, bool seal, bg_error *err)
{
    unsigned char *copy = malloc(n == 0 ? 1 : n);
    bg_graph g;
    if (copy == NULL)
        return BG_E_NOMEM;
    if (n != 0)
        memcpy(copy, bytes, n);
    if (seal && n >= BG_IMAGE_HEADER_BYTES)
        bg_layout_seal(copy, n);
    bg_status status = bg_graph_load(&g, copy, n, err);
    if (status == BG_OK) { /* the machine and the disassembler trust what was loaded */
        bg_buf text = {0};
        for (uint32_t p = 1; p < g.n_progs; p++) {
            bg_arena arena = {0};
            bg_value v;
            (void)!bg_vm_run(&g, p, &sample_host, &arena, &v, NULL);
            bg_arena_clear(&arena);
        }
        assert_int_equal(bg_image_disasm(&g, &text), BG_OK);
        bg_buf_clear(&text);
    }
    free(copy);
    return status;
}

static bg_buf sample(void)
{
    bg_buf image = {0};
    bg_error err = {0};
    assert_int_equal(sample_image(&image, &err), BG_OK);
    return image;
}

static void test_cut(void **state)
{
    (void)state;
    bg_buf image = sample();
    for (size_t n = 0; n < image.len; n++) {
        for (int seal = 0; seal < 2; seal++) {
            bg_error err = {0};
            assert_int_equal(load_copy(image.data, n, seal, &err), BG_E_CORRUPT);
            assert_true(err.offset <= n);
        }
    }
    assert_int_equal(load_copy(image.data, image.len, false, NULL), BG_OK);
    bg_buf_clear(&image);
}

static void test_every_bit(void **state)
{
    (void)state;
    bg_buf image = sample();
    for (size_t i = 0; i < image.len; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            bg_error err = {0};
            image.data[i] = (char)(image.data[i] ^ (1 << bit));
            bg_status status = load_copy(image.data, image.len, false, &err);
            assert_int_equal(status, i / 4 == BG_IMAGE_VERSION_AT / 4 ? BG_E_VERSION : BG_E_CORRUPT);
            image.data[i] = (char)(image.data[i] ^ (1 << bit));
        }
    }
    bg_buf_clear(&image);
}

static void test_every_byte_sealed(void **state)
{
    (void)state;
    static const unsigned char masks[] = {0x01, 0x80, 0xFF, 0x05};
    bg_buf image = sample();
    for (size_t i = 0; i < image.len; i++) {
        for (size_t m = 0; m < sizeof masks; m++) {
            bg_error err = {0};
            image.data[i] = (char)(image.data[i] ^ masks[m]);
            bg_status status = load_copy(image.data, image.len, true, &err);
            if (status != BG_OK && status != BG_E_CORRUPT && status != BG_E_VERSION)
                fail_msg("byte %zu: %s", i, bg_status_name(status));
            assert_true(err.offset <= image.len);
            image.data[i] = (char)(image.data[i] ^ masks[m]);
        }
    }
    bg_buf_clear(&image);
}

/* Words of the sample's text are exchanged for others. */
static const struct {
    const char *from, *to, *error; /* error NULL: still valid */
} lies[] = {
    {"section \"WORD\"", "section \"WORD\"\n", NULL},
    {"dflt 1 node=#3", "dflt 1 node=#4", "leads nowhere"},
    {"dflt 1 node=#3", "dflt 1", "leads nowhere"},
    {"signal=2", "signal=3", "does not exist"},
    {"group=#2", "group=#3", "leads nowhere"},
    {"parent=#1", "parent=#2", "a group lies in a later one"},
    {"choices=1+2", "choices=2+3", "a run lies outside"},
    {"choices=1+2", "choices=1+4294967295", "leads nowhere"},
    {"choices=1+2", "choices=1+0", "a run lies outside"},
    {"choices=1+2", "choices=0+1", "a run lies outside"},
    {"choices=1+2", "choices=1+3", NULL},
    {"node 2 name=\"gather\"", "node 2 name=\"pack\"", "two nodes have one name"},
    {"node 2 name=\"gather\"", "node 2 name=\"..\"", "a node's name is not a relative path"},
    {"node 2 name=\"gather\"", "node 2 name=\"\"", "a node's name is not a relative path"},
    {"\"usr/bin/clang\"", "\"/usr/bin/clang\"", "an output's path leaves"},
    {"\"usr/bin/clang\"", "\"usr/../clang\"", "an output's path leaves"},
    {"\"usr/bin/clang\"", "\"usr//clang\"", "an output's path leaves"},
    {"\"usr/bin/clang\"", "\"usr/./clang\"", "an output's path leaves"},
    {"\"usr/bin/clang\"", "\"usr/\"", "an output's path leaves"},
    {"\"usr/bin/clang\"", "\"usr\\x00\"", "an output's path leaves"},
    {"\"usr/bin/clang\"", "\"usr/...\"", NULL},
    {"work 1 node=#1 name=\"tmp\"", "work 1 node=#1 name=\"..\"", "a work directory"},
    {"work 1 node=#1", "work 1 node=#2", "a work directory is not its node's"},
    {"works=1+1", "doc=\"pack\"", "a record belongs to no node"},
    {"prods=1+2", "prods=1+1", "not in the order of nodes"},
    {"prods=3+1", "prods=2+1", "not in the order of nodes"},
    {"prods=4+1", "prods=0+0", "not in the order of nodes"},
    {"prod 2 node=#1", "prod 2 node=#3", "a product is not its node's"},
    {"prod 1 node=#1 name=\"link\"", "prod 1 node=#1 name=\"meta\"", "the first product of a node is not `link`"},
    {"is_early=1", "is_early=0", "a product is not its node's, or not in order"},
    {"outp 1 prod=#1", "outp 1 prod=#3", "an output is not its node's"},
    {"edge 1 node=#2 prod=#1", "edge 1 node=#3 prod=#1", "an edge is not its node's"},
    {"edge 1 node=#2 prod=#1", "edge 1 node=#2 prod=#3", "leads to itself"},
    {"edge 1 node=#2 prod=#1", "edge 1 node=#2 prod=#4", "in a cycle"},
    {"cpus=4", "retry=4", "takes no job slot"},
    {"prog 3 max_stack=2", "prog 3 max_stack=3", "another stack"},
    {"    machine 2", "    machine 3", "an operand has a value that does not exist"},
    {"    bool 1", "    bool 2", "an operand has a value that does not exist"},
    {"    render 2", "    render 3", "an operand has a value that does not exist"},
    {"    prod #1", "    prod #5", "an operand leads nowhere"},
    {"    prod #1", "    prod #0", "an operand leads nowhere"},
    {"    concat 2", "    concat 5", "the stack is too short"},
    {"    concat 2", "    concat 4294967295", "the stack is too short"},
    {"    splice\n", "", "ret leaves values behind"},
    {"  L41:\n", "  L41:\n    list\n    concat 2\n", NULL},
    {"    jump L41\n", "    jump L41\n    list\n", "never reached"},
    {"  L34:\n", "  L34:\n    list\n", "two stack depths meet"},
    {"    eq\n", "    eq\n    unless L34\n    bool 1\n", NULL},
    {"section \"DFLT\"\ndflt 1 node=#3", "section \"STRB\"", "not in order"},
    {"dflt 1 node=#3", "", "empty or holds half a record"},
    {"section \"DFLT\"\ndflt 1 node=#3", "section \"NEW1\"\nhex 00", NULL},
    {"section \"FILE\"\nfile 1 path=\"release.bgraph\"\nfile 2 path=\"std/pgo\" is_std=1\n", "", "it names no source file"},
};

/* Every `from`, at least one, becomes `to`. */
static void exchange(bg_str text, const char *from, const char *to, bg_buf *out)
{
    const char *p = text.ptr, *at = strstr(p, from);
    if (at == NULL)
        fail_msg("the sample does not hold \"%s\"", from);
    for (; at != NULL; at = strstr(p, from)) {
        bg_buf_put(out, p, (size_t)(at - p));
        bg_buf_puts(out, to);
        p = at + strlen(from);
    }
    bg_buf_puts(out, p);
}

static void test_lies(void **state)
{
    (void)state;
    bg_buf image = sample(), text = {0};
    bg_graph g;
    assert_int_equal(bg_graph_load(&g, image.data, image.len, NULL), BG_OK);
    assert_int_equal(bg_image_disasm(&g, &text), BG_OK);
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        bg_buf changed = {0}, bytes = {0};
        bg_error err = {0};
        exchange(bg_buf_view(&text), lies[i].from, lies[i].to, &changed);
        if (bg_image_asm(bg_buf_view(&changed), &bytes, &err) != BG_OK)
            fail_msg("case %zu: %s", i, err.text);
        bg_status status = load_copy(bytes.data, bytes.len, false, &err);
        if (status != (lies[i].error == NULL ? BG_OK : BG_E_CORRUPT) ||
            (lies[i].error != NULL && strstr(err.text, lies[i].error) == NULL))
            fail_msg("case %zu (%s): %s, %s", i, lies[i].to, bg_status_name(status), err.text);
        bg_buf_clear(&changed);
        bg_buf_clear(&bytes);
    }
    bg_buf_clear(&image);
    bg_buf_clear(&text);
}

/* What the text form can't say: bytes of the sample are overwritten and the checksum is made right. */
static void test_bytes(void **state)
{
    (void)state;
    bg_buf image = sample();
    bg_graph g;
    assert_int_equal(bg_graph_load(&g, image.data, image.len, NULL), BG_OK);
    const size_t code = (size_t)(g.code - g.bytes);
    const struct {
        size_t at;
        unsigned char byte;
        const char *error;
    } cases[] = {
        {0, 'x', "does not begin as an image does"},
        {BG_IMAGE_COUNT_AT, 0, "there is something behind the last section"},
        {BG_IMAGE_COUNT_AT, (unsigned char)(image.data[BG_IMAGE_COUNT_AT] - 1), "is not where the one before it ends"},
        {BG_IMAGE_COUNT_AT + 3, 1, "the section table is cut off"},
        {BG_IMAGE_HEADER_BYTES - 1, 1, "a reserved byte is set"},
        {BG_IMAGE_HEADER_BYTES + 4, 16, "is not where the one before it ends, or not aligned"},
        {BG_IMAGE_HEADER_BYTES + 8, 0, "is not where the one before it ends, or not aligned"},
        {BG_IMAGE_HEADER_BYTES + 23, 1, "a section is cut off"},
        {(size_t)((const unsigned char *)g.nodes - g.bytes), 1, "the empty slot of a section is not empty"},
        {(size_t)((const unsigned char *)&g.strs[2] - g.bytes), 1, "a string lies outside"},
        {(size_t)((const unsigned char *)&g.strs[33].len - g.bytes), 200, "a string lies outside"},
        {(size_t)(g.str_bytes - g.bytes) + g.strs[1].len, 'x', "a string does not end in NUL"},
        {(size_t)((const unsigned char *)&g.progs[2].code - g.bytes), 0, "a program lies outside"},
        {(size_t)((const unsigned char *)&g.progs[1].len - g.bytes), 0, "a program is empty"},
        {code, 200, "unknown opcode"},
        {code + 5, BG_OP_STR, "an instruction is cut off"},
        {code + g.progs[3].code + 30, 2, "a jump leads into the middle"},
        {code + g.progs[3].code + 12, 200, "a jump leads out of the program"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bg_error err = {0};
        char *copy = malloc(image.len);
        assert_non_null(copy);
        memcpy(copy, image.data, image.len);
        copy[cases[i].at] = (char)cases[i].byte;
        bg_status status = load_copy(copy, image.len, true, &err);
        if (status != BG_E_CORRUPT || strstr(err.text, cases[i].error) == NULL)
            fail_msg("case %zu: %s, %s, not \"%s\"", i, bg_status_name(status), err.text, cases[i].error);
        free(copy);
    }
    assert_int_equal(bg_graph_load(&g, image.data + 1, image.len - 1, NULL), BG_E_USAGE);
    bg_buf_clear(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cut), cmocka_unit_test(test_every_bit),
                                       cmocka_unit_test(test_every_byte_sealed), cmocka_unit_test(test_lies),
                                       cmocka_unit_test(test_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
