/* bgc init: a first file to change. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static const char first_file[] =
    "bgraph 1\n"
    "# A first graph: it runs as it is, with nothing but sh and cc. Change it step by step.\n"
    "#   bgc check     look for errors, run nothing\n"
    "#   bgc run       make what `default` names; a second run has nothing to do\n"
    "#   bgc graph     draw it\n"
    "\n"
    "## Optimisation level; another one: bgc run -D opt=0\n"
    "param opt : enum[\"0\", \"1\", \"2\", \"3\"] = \"2\"\n"
    "\n"
    "# A program from outside. What it prints as its version is part of the keys of all that it makes.\n"
    "tool cc { program = \"cc\"  version = [\"--version\"] }\n"
    "\n"
    "## Writes a C file. A real project would read one: src(\"hello.c\").\n"
    "stage text \"Write hello.c\" {\n"
    "    env { TEXT = \"#include <stdio.h>\\nint main(void) {{ return puts(\\\"hello\\\") == EOF; }}\\n\" }\n"
    "    run { argv = [\"sh\", \"-c\", \"printf %s \\\"$TEXT\\\"\"]  stdout = out.c }\n"
    "    out c : file = \"hello.c\"\n"
    "}\n"
    "\n"
    "group build \"Build\" {\n"
    "    ## A string is one word of a command: no shell splits it. `text.c` is the output `c` of the stage `text`,\n"
    "    ## and makes an edge.\n"
    "    stage hello \"Compile hello\" {\n"
    "        run = [cc, \"-O{opt}\", \"-o\", out.program, text.c]\n"
    "        out program : file = \"hello\"\n"
    "    }\n"
    "}\n"
    "\n"
    "## Runs what was built and keeps what it says.\n"
    "stage test \"Test hello\" {\n"
    "    run { argv = [build.hello.program]  stdout = out.log }\n"
    "    out log : file = \"hello.log\"\n"
    "}\n"
    "\n"
    "default test\n";

static bg_status create(const char *path, bg_error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST)
        return bg_error_set(err, BG_E_USAGE, "%s is there already and stays as it is: name another file", path);
    if (fd < 0)
        return bg_error_os(err, errno, "can't make %s", path);
    size_t n = sizeof first_file - 1;
    int error = 0;
    ssize_t written = write(fd, first_file, n);
    if (written != (ssize_t)n)
        error = written < 0 ? errno : ENOSPC;
    if (close(fd) != 0 && error == 0)
        error = errno;
    if (error == 0)
        return BG_OK;
    unlink(path);
    return bg_error_os(err, error, "can't write %s", path);
}

static int run(const bg_args *args)
{
    const char *path = args->n_rest > 0 ? args->rest[0] : "release.bgraph";
    bg_error err = {0};
    bg_status status = create(path, &err);
    if (status != BG_OK)
        return bg_cli_fail(status, &err);
    printf("%s is made. Next: bgc run %s\n", path, path);
    return bg_cli_flush();
}

static const bg_option options[] = {BG_OPTIONS_END};
const bg_command bg_command_init = {
    .name = "init",
    .doc = "write a first .bgraph file",
    .usage = "[FILE]",
    .about = "Writes a small commented graph (release.bgraph, or FILE) that runs as it is. Never overwrites.\n",
    .example = "bgc init && bgc run\n",
    .options = options,
    .max_rest = 1,
    .run = run,
};
