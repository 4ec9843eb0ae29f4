// SPDX-License-Identifier: Apache-2.0
// Writes docs/diagnostics.md from the compiler's table of messages.
#include <stdio.h>

static const struct row {
    const char *severity, *code, *format, *explanation;
} rows[] = {
#define PKC_DIAG(id, severity, code, format, explanation) {#severity, code, format, explanation},
#include "source/diag.def"
};

static const char *title(const char *code)
{
    static const struct {
        char digit;
        const char *text;
    } titles[] = {
        {'1', "Lexical and syntax"},
        {'2', "Names and structure"},
        {'3', "Types and shapes"},
        {'4', "Roles, pipes, resources"},
        {'5', "Targets"},
        {'6', "Command line"},
    };
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        if (code[2] == titles[i].digit)
            return titles[i].text;
    return "Others";
}

int main(void)
{
    const char *section = "";
    printf("# Diagnostics\n\nEvery message of `pkc`, with what `pkc --explain CODE` says about it. %%s and "
           "the like stand for names and numbers\n"
           "of your program. This page is generated from `compiler/source/diag.def`; a test compares the "
           "two.\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *next = title(rows[i].code);
        if (next != section)
            printf("\n## %s\n", next);
        section = next;
        printf("\n**%s** `%s`\n\n%s\n", rows[i].code, rows[i].format, rows[i].explanation);
    }
    return 0;
}
