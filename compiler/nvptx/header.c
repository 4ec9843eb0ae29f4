// SPDX-License-Identifier: Apache-2.0
// A C header (C17 and C++) that holds a module's bytes and, for each kernel, its arguments as a struct and
// functions to bind and launch it. All of it is static: the header is included where it is used.
#include <ctype.h>
#include <string.h>

#include "nvptx/nvptx.h"

// ---- names
// -------------------------------------------------------------------------------------------------

// Words that may name a parameter in .pk and may not name a member in C or C++.
static const char *const reserved[] = {
    "alignas",  "alignof",  "and",     "asm",       "auto",    "bool",      "break",    "case",     "catch",
    "char",     "class",    "const",   "continue",  "default", "delete",    "do",       "double",   "else",
    "enum",     "explicit", "export",  "extern",    "false",   "float",     "for",      "friend",   "goto",
    "if",       "inline",   "int",     "long",      "mutable", "namespace", "new",      "not",      "nullptr",
    "operator", "or",       "private", "protected", "public",  "register",  "requires", "restrict", "return",
    "short",    "signed",   "sizeof",  "static",    "struct",  "switch",    "template", "this",     "throw",
    "true",     "try",      "typedef", "typename",  "union",   "unsigned",  "using",    "virtual",  "void",
    "volatile", "while",    "xor",
};

static const char *member(pkc_session *session, const char *name)
{
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (!strcmp(reserved[i], name))
            return pkc_arena_printf(&session->arena, "%s_", name);
    return name;
}

// The file's name without its folder and what follows the first point, as a C name.
static const char *stem(pkc_session *session, const char *file)
{
    const char *slash = strrchr(file, '/');
    char *name = pkc_arena_strdup(&session->arena, slash ? slash + 1 : file);
    name[strcspn(name, ".")] = 0;
    for (char *p = name; *p; p++)
        if (!isalnum((unsigned char)*p))
            *p = '_';
    return isdigit((unsigned char)*name) || !*name ? pkc_arena_printf(&session->arena, "pk_%s", name) : name;
}

static const char *c_type(pkc_elem elem)
{
    switch (elem) {
    case PKC_E_BOOL:
        return "bool";
    case PKC_E_U8:
        return "uint8_t";
    case PKC_E_I32:
        return "int32_t";
    case PKC_E_U32:
        return "uint32_t";
    case PKC_E_F32:
        return "float";
    case PKC_E_I64:
        return "int64_t";
    case PKC_E_U64:
        return "uint64_t";
    case PKC_E_F64:
        return "double";
    case PKC_E_I8:
    case PKC_E_E4M3:
    case PKC_E_E5M2:
    case PKC_E_BF16:
    case PKC_E_F16:
    case PKC_E_COUNT:
        break; // no types of scalars
    }
    return "int64_t";
}

// ---- the bytes
// ---------------------------------------------------------------------------------------------

static void put_escaped(pkc_buf *out, unsigned char c)
{
    if (c == '\n')
        pkc_buf_puts(out, "\\n");
    else if (c == '\t')
        pkc_buf_puts(out, "\\t");
    else if (c == '"' || c == '\\' || c == '?') // a question mark may begin a trigraph
        pkc_buf_printf(out, "\\%c", c);
    else if (c < 32 || c > 126)
        pkc_buf_printf(out, "\\%03o", c);
    else
        pkc_buf_putc(out, (char)c);
}

// One literal a line, which the compiler joins.
static void put_bytes(const char *name, const pkc_buf *ptx, pkc_buf *out)
{
    pkc_buf_puts(out, "#if defined(__GNUC__)\n#pragma GCC diagnostic push\n"
                      "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n#endif\n");
    pkc_buf_printf(out,
                   "/// The module as pkc wrote it: its description in the first line, then PTX.\n"
                   "static const char %s_pk[] =\n    \"",
                   name);
    for (size_t i = 0; i < ptx->len; i++) {
        put_escaped(out, (unsigned char)ptx->data[i]);
        if (ptx->data[i] == '\n' && i + 1 < ptx->len)
            pkc_buf_puts(out, "\"\n    \"");
    }
    pkc_buf_puts(out, "\";\n#if defined(__GNUC__)\n#pragma GCC diagnostic pop\n#endif\n\n");
    pkc_buf_printf(out,
                   "static inline pkrt_status %s_pk_load(pkrt_context *ctx, pkrt_module **out)\n"
                   "{\n    return pkrt_module_load(ctx, out, %s_pk, sizeof %s_pk - 1);\n}\n",
                   name, name, name);
}

// ---- kernels
// -----------------------------------------------------------------------------------------------

static bool is_argument(const ir_param *p)
{
    return p->kind != IR_PARAM_SIGNAL;
}

static int count_arguments(const ir_kernel *k)
{
    int n = 0;
    for (int i = 0; i < k->n_params; i++)
        n += is_argument(&k->params[i]);
    return n;
}

static void put_shape(const ir_param *p, pkc_buf *out)
{
    pkc_buf_printf(out, " // %s%s[", p->kind == IR_PARAM_PEER ? "peer " : "", pkc_elem_name(p->elem));
    for (int i = 0; i < p->n_dims; i++) {
        pkc_buf_puts(out, i ? ", " : "");
        ir_hx_print_text(p->dims[i], out);
    }
    pkc_buf_puts(out, p->clear ? "] = 0\n" : "]\n");
}

static void put_struct(pkc_session *session, const ir_kernel *k, pkc_buf *out)
{
    pkc_buf_printf(out, "\n/// Arguments of kernel %s. Peer tensors are made with PKRT_SYMMETRIC.\n",
                   k->name);
    pkc_buf_printf(out, "typedef struct %s_args {\n", k->name);
    for (int i = 0; i < k->n_params; i++) {
        const ir_param *p = &k->params[i];
        if (!is_argument(p))
            continue;
        const char *name = member(session, p->name);
        if (p->kind == IR_PARAM_SCALAR) {
            pkc_buf_printf(out, "    %s %s;\n", c_type(p->elem), name);
            continue;
        }
        pkc_buf_printf(out, "    pkrt_tensor *%s;", name);
        put_shape(p, out);
    }
    if (!count_arguments(k))
        pkc_buf_puts(out, "    char none; // C has no empty structs\n");
    pkc_buf_printf(out, "} %s_args;\n\n", k->name);
}

// Positional initialisers, since C++ has no designated ones before 2020: name, tensor, integer, float.
static int put_arguments(pkc_session *session, const ir_kernel *k, pkc_buf *out)
{
    int n = 0;
    if (!count_arguments(k)) {
        pkc_buf_puts(out, "    const pkrt_arg *list = NULL;\n    (void)args;\n");
        return 0;
    }
    pkc_buf_puts(out, "    const pkrt_arg list[] = {\n");
    for (int i = 0; i < k->n_params; i++) {
        const ir_param *p = &k->params[i];
        if (!is_argument(p))
            continue;
        n++;
        const char *name = member(session, p->name);
        if (p->kind != IR_PARAM_SCALAR)
            pkc_buf_printf(out, "        {\"%s\", args->%s, 0, 0.0},\n", p->name, name);
        else if (pkc_elem_class(p->elem) == 'f')
            pkc_buf_printf(out, "        {\"%s\", NULL, 0, (double)args->%s},\n", p->name, name);
        else
            pkc_buf_printf(out, "        {\"%s\", NULL, (int64_t)args->%s, 0.0},\n", p->name, name);
    }
    pkc_buf_puts(out, "    };\n");
    return n;
}

static void put_kernel(pkc_session *session, const ir_kernel *k, pkc_buf *out)
{
    put_struct(session, k, out);
    pkc_buf_printf(
        out,
        "/// Binds %s on all ranks; see pkrt_kernel_bind.\n"
        "static inline pkrt_status %s_bind(pkrt_module *module, pkrt_kernel **out, const %s_args *args)\n"
        "{\n",
        k->name, k->name, k->name);
    int n = put_arguments(session, k, out);
    pkc_buf_printf(out, "    return pkrt_kernel_bind(module, out, \"%s\", list, %d);\n}\n\n", k->name, n);
    pkc_buf_printf(out,
                   "/// Launches a bound %s on every rank; see pkrt_kernel_launch.\n"
                   "static inline pkrt_status %s_launch(pkrt_kernel *kernel, void *const *streams)\n"
                   "{\n    return pkrt_kernel_launch(kernel, streams);\n}\n",
                   k->name, k->name);
}

bool pkc_nvptx_header(pkc_session *session, const ir_module *module, const char *name, const pkc_buf *ptx,
                      pkc_buf *out)
{
    const char *prefix = stem(session, name);
    char *guard = pkc_arena_printf(&session->arena, "%s_PK_H", prefix);
    for (char *p = guard; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    pkc_buf_printf(out, "// Written by pkc: kernels of %s.pk, and how to bind and launch them.\n", prefix);
    pkc_buf_printf(out, "#ifndef %s\n#define %s\n\n#include <pkrt/pkrt.h>\n#include <stdbool.h>\n", guard,
                   guard);
    pkc_buf_puts(out, "#include <stddef.h>\n#include <stdint.h>\n\n");
    put_bytes(prefix, ptx, out);
    for (int i = 0; i < module->n_kernels; i++)
        put_kernel(session, module->kernels[i], out);
    pkc_buf_puts(out, "\n#endif\n");
    return true;
}
