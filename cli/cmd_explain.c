/* bgc explain: what a diagnostic means. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bgraph/diag.h"
#include "cli.h"

static const char *severity_word(bg_severity severity)
{
    return severity == BG_SEVERITY_WARNING ? "warning" : "error";
}

static int print_list(void)
{
    for (uint32_t i = 0; bg_diag_at(i) != NULL; i++) {
        const bg_diag_info *info = bg_diag_at(i);
        printf("BG%04u  %-7s  %s\n", (unsigned)info->number, severity_word(info->severity), info->text);
    }
    return bg_cli_flush();
}

/* BG0203, bg203, 0203, 203 or the name in diags.def. */
static const bg_diag_info *find(const char *text)
{
    for (uint32_t i = 0; bg_diag_at(i) != NULL; i++) {
        if (strcasecmp(bg_diag_at(i)->name, text) == 0)
            return bg_diag_at(i);
    }
    if ((text[0] == 'B' || text[0] == 'b') && (text[1] == 'G' || text[1] == 'g'))
        text += 2;
    char *end;
    if (text[0] < '0' || text[0] > '9' || strlen(text) > 9)
        return NULL;
    unsigned long number = strtoul(text, &end, 10);
    return *end == 0 ? bg_diag_find((uint32_t)number) : NULL;
}

static void print_indented(const char *text)
{
    while (*text != 0) {
        size_t n = strcspn(text, "\n");
        printf("    %.*s\n", (int)n, text);
        text += n + (text[n] == '\n');
    }
}

static int run(const bg_args *args)
{
    if (args->n_rest == 0)
        return print_list();
    const bg_diag_info *info = find(args->rest[0]);
    if (info == NULL)
        return bg_cli_usage("explain", "there is no diagnostic `%.80s`; `bgc explain` lists them all", args->rest[0]);
    printf("BG%04u, %s: %s\n\n%s\n", (unsigned)info->number, severity_word(info->severity), info->text, info->explanation);
    if (info->example != NULL && info->example[0] != 0) {
        printf("\nFor example:\n\n");
        print_indented(info->example);
    }
    return bg_cli_flush();
}

static const bg_option options[] = {BG_OPTIONS_END};
const bg_command bg_command_explain = {
    .name = "explain",
    .doc = "explain a diagnostic code",
    .usage = "[CODE]",
    .about = "Tells what a diagnostic means, what to do, and shows an example that gives it. Without CODE lists all.\n",
    .example = "bgc explain BG0102\n",
    .options = options,
    .max_rest = 1,
    .run = run,
};
