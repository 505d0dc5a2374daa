/* bgc disasm and bgc asm: the image as text and back. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "input.h"

#define ASM_LIMIT ((size_t)1 << 30)

static int run_disasm(const bg_args *args)
{
    bg_input input = {0};
    bg_error err = {0};
    bg_buf text = {0};
    int code;
    bg_status status = bg_input_find(&input, args->n_rest > 0 ? args->rest[0] : NULL, args, &err);
    if (status == BG_OK)
        status = bg_input_load(&input, false, bg_cli_color(args, stderr), &err);
    if (status == BG_OK && (status = bg_image_disasm(&input.graph, &text)) != BG_OK)
        bg_error_set(&err, status, "can't disassemble %s: %s", input.file, bg_status_text(status));
    code = status == BG_OK ? bg_cli_put_to(bg_args_text(args, "output"), &text) : bg_cli_fail(status, &err);
    bg_buf_clear(&text);
    bg_input_clear(&input);
    return code;
}

static bg_status read_text(const char *path, bg_buf *out, bg_error *err)
{
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return bg_error_os(err, errno, "can't read %s", path);
    bg_status status = bg_cli_read_fd(fd, ASM_LIMIT, out);
    if (status == BG_E_IO)
        status = bg_error_os(err, errno, "can't read %s", path);
    else if (status != BG_OK)
        bg_error_set(err, status, "out of memory while reading %s", path);
    if (!is_stdin)
        close(fd);
    return status;
}

static int run_asm(const bg_args *args)
{
    const char *path = bg_args_text(args, "output");
    if (path == NULL)
        return bg_cli_usage("asm", "say where the image goes: -o IMAGE");
    bg_buf text = {0}, image = {0};
    bg_error err = {0};
    bg_status status = read_text(args->rest[0], &text, &err);
    if (status == BG_OK) {
        status = bg_image_asm(bg_buf_view(&text), &image, &err);
        if (status != BG_OK) {
            bg_error detail = err;
            bg_error_set(&err, status, "%s:%.900s", args->rest[0], detail.text);
        }
    }
    /* a text that does not assemble is the person's mistake, not the disk's */
    int code = status == BG_OK ? bg_cli_put_to(path, &image) : bg_cli_fail(status, &err);
    bg_buf_clear(&text);
    bg_buf_clear(&image);
    return status == BG_E_CORRUPT ? 2 : code;
}

static const bg_option disasm_options[] = {
    BG_OPTION_O("write there instead of standard output"),
    BG_OPTION_D,
    BG_OPTION_COLOR,
    BG_OPTIONS_END,
};
const bg_command bg_command_disasm = {
    .name = "disasm",
    .doc = "print an image as text",
    .usage = "[OPTION…] [FILE]",
    .about = "Prints every record and program of a .bgb image (`-`: on standard input), or of what a .bgraph file compiles to. `bgc asm` reads it back\n"
             "to the same bytes.\n",
    .example = "bgc disasm release.bgb\n"
               "bgc disasm release.bgraph -o release.txt\n",
    .options = disasm_options,
    .max_rest = 1,
    .run = run_disasm,
};

static const bg_option asm_options[] = {
    BG_OPTION_O("the image to write"),
    BG_OPTIONS_END,
};
const bg_command bg_command_asm = {
    .name = "asm",
    .doc = "make an image from the text that disasm prints",
    .usage = "TEXT -o IMAGE",
    .about = "Reads the text form of an image (`-`: standard input), verifies it and writes the image.\n",
    .example = "bgc disasm release.bgb > release.txt && bgc asm release.txt -o again.bgb\n",
    .options = asm_options,
    .min_rest = 1,
    .max_rest = 1,
    .run = run_asm,
};
