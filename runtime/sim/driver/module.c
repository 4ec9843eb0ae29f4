// SPDX-License-Identifier: Apache-2.0
// Modules from PTX text, libraries, functions and what fits on a multiprocessor.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/driver/driver.h"

// ---- Images

struct log {
    char *text;
    size_t size;
};

static void log_error(const struct log *log, const char *text)
{
    if (log->text && log->size)
        snprintf(log->text, log->size, "%s", text);
}

static struct log find_log(unsigned int count, const CUjit_option *options, void *const *values)
{
    struct log log = {0};
    for (unsigned int i = 0; options && values && i < count; i++) {
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
            log.text = values[i];
        else if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
            log.size = (size_t)(uintptr_t)values[i];
    }
    return log;
}

// Binary images: ELF, and the container that nvcc makes.
static bool is_binary(const char *image)
{
    static const unsigned char fat[4] = {0x50, 0xed, 0x55, 0xba};
    return memcmp(image, "\177ELF", 4) == 0 || memcmp(image, fat, sizeof fat) == 0;
}

static struct image *known_image(struct driver *d, const char *text, size_t length)
{
    for (struct image *image = d->images; image; image = image->next)
        if (image->length == length && memcmp(image->text, text, length) == 0)
            return image;
    return NULL;
}

static CUresult parse_image(const char *text, size_t length, const struct log *log, struct image *image)
{
    struct pksim_ptx_error error = {0};
    char message[300];
    image->length = length;
    image->text = malloc(length + 1);
    if (!image->text)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(image->text, text, length + 1);
    image->module = pksim_module_parse(text, length, &error);
    if (image->module)
        return CUDA_SUCCESS;
    snprintf(message, sizeof message, "PTX line %u: %s", error.line, error.text);
    log_error(log, message);
    return CUDA_ERROR_INVALID_PTX;
}

// The image with one user more.
static CUresult image_retain(struct driver *d, const char *text, const struct log *log, struct image **out)
{
    if (is_binary(text)) {
        log_error(log, "the simulator runs PTX text, not binary code");
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    size_t length = strlen(text);
    struct image *image = known_image(d, text, length);
    if (!image) {
        image = calloc(1, sizeof *image);
        CUresult result = image ? parse_image(text, length, log, image) : CUDA_ERROR_OUT_OF_MEMORY;
        if (result != CUDA_SUCCESS) {
            if (image)
                free(image->text);
            free(image);
            return result;
        }
        image->next = d->images;
        d->images = image;
    }
    image->users++;
    *out = image;
    return CUDA_SUCCESS;
}

void pksim_image_release(struct driver *d, struct image *image)
{
    if (--image->users > 0)
        return;
    for (struct image **link = &d->images; *link; link = &(*link)->next)
        if (*link == image) {
            *link = image->next;
            break;
        }
    pksim_module_free(image->module);
    free(image->text);
    free(image);
}

// ---- Modules

void pksim_module_delete(struct driver *d, struct pksim_image_use *module)
{
    struct object *next;
    for (struct object *o = d->objects[OBJECT_FUNCTION]; o; o = next) {
        next = o->next;
        if (((struct pksim_entry *)o)->module == module)
            pksim_object_delete(d, o);
    }
    for (uint32_t i = 0; i < module->variable_count; i++)
        if (module->variables[i])
            pksim_mem_free(d->config.mem, module->variables[i]);
    free(module->variables);
    pksim_image_release(d, module->image);
    pksim_object_delete(d, module);
}

static bool allocate_variable(struct driver *d, struct pksim_image_use *module, uint32_t index)
{
    struct pksim_variable_info info;
    pksim_module_variable(module->image->module, index, &info);
    return pksim_mem_alloc(d->config.mem, module->object.context->device, info.size ? info.size : 1,
                           &module->variables[index]) == PKSIM_MEM_DONE;
}

// Once all have addresses: initialisers may hold those of other variables.
static bool fill_variable(struct driver *d, struct pksim_image_use *module, uint32_t index)
{
    struct pksim_variable_info info;
    struct pksim_mem_fault fault;
    pksim_module_variable(module->image->module, index, &info);
    void *bytes = calloc(1, info.size + 1);
    if (!bytes)
        return false;
    pksim_module_variable_fill(module->image->module, index, module->variables, bytes);
    bool ok = pksim_mem_write(d->config.mem, module->variables[index], bytes, info.size, &fault);
    free(bytes);
    return ok;
}

static bool make_variables(struct driver *d, struct pksim_image_use *module)
{
    uint32_t count = pksim_module_variable_count(module->image->module);
    module->variables = calloc((size_t)count + 1, sizeof *module->variables);
    if (!module->variables)
        return false;
    for (; module->variable_count < count; module->variable_count++)
        if (!allocate_variable(d, module, module->variable_count))
            return false;
    for (uint32_t i = 0; i < count; i++)
        if (!fill_variable(d, module, i))
            return false;
    return true;
}

// Takes over the caller's use of the image.
static CUresult module_new(struct driver *d, struct image *image, struct pksim_library *library,
                           CUmodule *out)
{
    struct pksim_image_use *module = pksim_object_new(d, OBJECT_MODULE, sizeof *module, pksim_current(d));
    if (!module) {
        pksim_image_release(d, image);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    module->image = image;
    module->library = library;
    if (!make_variables(d, module)) {
        pksim_module_delete(d, module);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = module;
    return CUDA_SUCCESS;
}

CUresult pksim_cuModuleLoadDataEx(struct driver *d, CUmodule *out, const void *text, unsigned int count,
                                  CUjit_option *options, void **values)
{
    if (!out || !text)
        return CUDA_ERROR_INVALID_VALUE;
    struct log log = find_log(count, options, values);
    struct image *image;
    CUresult result = image_retain(d, text, &log, &image);
    return result != CUDA_SUCCESS ? result : module_new(d, image, NULL, out);
}

CUresult pksim_cuModuleLoadData(struct driver *d, CUmodule *out, const void *text)
{
    return pksim_cuModuleLoadDataEx(d, out, text, 0, NULL, NULL);
}

// The whole file with a NUL behind it; NULL: it cannot be read.
static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    long size = -1;
    if (file && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size >= 0 && fseek(file, 0, SEEK_SET) == 0)
        text = calloc(1, (size_t)size + 8);
    if (text && fread(text, 1, (size_t)size, file) != (size_t)size) {
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

CUresult pksim_cuModuleLoad(struct driver *d, CUmodule *out, const char *path)
{
    if (!out || !path)
        return CUDA_ERROR_INVALID_VALUE;
    char *text = read_file(path);
    if (!text)
        return CUDA_ERROR_FILE_NOT_FOUND;
    CUresult result = pksim_cuModuleLoadData(d, out, text);
    free(text);
    return result;
}

CUresult pksim_cuModuleUnload(struct driver *d, CUmodule handle)
{
    struct pksim_image_use *module = pksim_object_find(d, OBJECT_MODULE, handle);
    if (!module || module->library)
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult result = pksim_wait_context(d, module->object.context);
    if (pksim_object_find(d, OBJECT_MODULE, handle))
        pksim_module_delete(d, module);
    return result;
}

CUresult pksim_cuModuleGetLoadingMode(struct driver *d, CUmoduleLoadingMode *mode)
{
    (void)d;
    if (!mode)
        return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
}

static struct pksim_entry *known_function(const struct driver *d, const struct pksim_image_use *module,
                                          const struct pksim_function *function)
{
    for (struct object *o = d->objects[OBJECT_FUNCTION]; o; o = o->next) {
        struct pksim_entry *entry = (struct pksim_entry *)o;
        if (entry->module == module && entry->function == function)
            return entry;
    }
    return NULL;
}

CUresult pksim_cuModuleGetFunction(struct driver *d, CUfunction *out, CUmodule handle, const char *name)
{
    enum { DEFAULT_SHARED = 48 << 10 };
    struct pksim_image_use *module = pksim_object_find(d, OBJECT_MODULE, handle);
    if (!out || !name)
        return CUDA_ERROR_INVALID_VALUE;
    if (!module)
        return CUDA_ERROR_INVALID_HANDLE;
    const struct pksim_function *function = pksim_module_find(module->image->module, name);
    if (!function)
        return CUDA_ERROR_NOT_FOUND;
    struct pksim_entry *entry = known_function(d, module, function);
    if (!entry) {
        entry = pksim_object_new(d, OBJECT_FUNCTION, sizeof *entry, module->object.context);
        if (!entry)
            return CUDA_ERROR_OUT_OF_MEMORY;
        entry->module = module;
        entry->function = function;
        pksim_function_info(function, &entry->info);
        uint32_t fixed = entry->info.static_shared;
        entry->max_dynamic_shared = fixed < DEFAULT_SHARED ? DEFAULT_SHARED - fixed : 0;
    }
    *out = entry;
    return CUDA_SUCCESS;
}

CUresult pksim_cuModuleGetFunctionCount(struct driver *d, unsigned int *count, CUmodule handle)
{
    const struct pksim_image_use *module = pksim_object_find(d, OBJECT_MODULE, handle);
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    if (!module)
        return CUDA_ERROR_INVALID_HANDLE;
    *count = pksim_module_entry_count(module->image->module);
    return CUDA_SUCCESS;
}

static bool is_name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

CUresult pksim_cuModuleGetGlobal_v2(struct driver *d, CUdeviceptr *out, size_t *bytes, CUmodule handle,
                                    const char *name)
{
    const struct pksim_image_use *module = pksim_object_find(d, OBJECT_MODULE, handle);
    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    if (!module)
        return CUDA_ERROR_INVALID_HANDLE;
    size_t length = strlen(name);
    for (uint32_t i = 0; i < module->variable_count; i++) {
        struct pksim_variable_info info;
        pksim_module_variable(module->image->module, i, &info);
        // The name is a slice of the text: what follows it there is no character of a name.
        if (strncmp(info.name, name, length) != 0 || is_name_character(info.name[length]))
            continue;
        if (out)
            *out = module->variables[i];
        if (bytes)
            *bytes = info.size;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_NOT_FOUND;
}

// ---- Libraries: modules that are made in a context when they are first used there.

CUresult pksim_cuLibraryLoadData(struct driver *d, CUlibrary *out, const void *text, CUjit_option *options,
                                 void **values, unsigned int count, CUlibraryOption *library_options,
                                 void **library_values, unsigned int library_count)
{
    (void)library_options;
    (void)library_values;
    (void)library_count;
    if (!out || !text)
        return CUDA_ERROR_INVALID_VALUE;
    struct log log = find_log(count, options, values);
    struct image *image;
    CUresult result = image_retain(d, text, &log, &image);
    if (result != CUDA_SUCCESS)
        return result;
    struct pksim_library *library = pksim_object_new(d, OBJECT_LIBRARY, sizeof *library, NULL);
    if (!library) {
        pksim_image_release(d, image);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    library->image = image;
    *out = library;
    return CUDA_SUCCESS;
}

static struct pksim_image_use *library_module(const struct driver *d, const struct pksim_library *library,
                                              const struct pksim_context *context)
{
    for (struct object *o = d->objects[OBJECT_MODULE]; o; o = o->next) {
        struct pksim_image_use *module = (struct pksim_image_use *)o;
        if (module->library == library && (!context || o->context == context))
            return module;
    }
    return NULL;
}

void pksim_library_delete(struct driver *d, struct pksim_library *library)
{
    struct pksim_image_use *module;
    struct object *next;
    while ((module = library_module(d, library, NULL)))
        pksim_module_delete(d, module);
    for (struct object *o = d->objects[OBJECT_KERNEL]; o; o = next) {
        struct pksim_kernel *kernel = (struct pksim_kernel *)o;
        next = o->next;
        if (kernel->library == library) {
            free(kernel->name);
            pksim_object_delete(d, kernel);
        }
    }
    pksim_image_release(d, library->image);
    pksim_object_delete(d, library);
}

CUresult pksim_cuLibraryUnload(struct driver *d, CUlibrary handle)
{
    struct pksim_library *library = pksim_object_find(d, OBJECT_LIBRARY, handle);
    if (!library)
        return CUDA_ERROR_INVALID_HANDLE;
    for (struct object *o = d->objects[OBJECT_MODULE]; o; o = o->next)
        if (((struct pksim_image_use *)o)->library == library && pksim_context_busy(d, o->context)) {
            pksim_wait_context(d, o->context);
            return pksim_cuLibraryUnload(d, handle); // the list may be another one now
        }
    pksim_library_delete(d, library);
    return CUDA_SUCCESS;
}

CUresult pksim_cuLibraryGetModule(struct driver *d, CUmodule *out, CUlibrary handle)
{
    struct pksim_library *library = pksim_object_find(d, OBJECT_LIBRARY, handle);
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (!library)
        return CUDA_ERROR_INVALID_HANDLE;
    *out = library_module(d, library, pksim_current(d));
    if (*out)
        return CUDA_SUCCESS;
    library->image->users++;
    return module_new(d, library->image, library, out);
}

CUresult pksim_cuLibraryGetGlobal(struct driver *d, CUdeviceptr *out, size_t *bytes, CUlibrary library,
                                  const char *name)
{
    CUmodule module;
    CUresult result = pksim_cuLibraryGetModule(d, &module, library);
    return result != CUDA_SUCCESS ? result : pksim_cuModuleGetGlobal_v2(d, out, bytes, module, name);
}

CUresult pksim_cuLibraryGetKernel(struct driver *d, CUkernel *out, CUlibrary handle, const char *name)
{
    struct pksim_library *library = pksim_object_find(d, OBJECT_LIBRARY, handle);
    if (!out || !name)
        return CUDA_ERROR_INVALID_VALUE;
    if (!library)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!pksim_module_find(library->image->module, name))
        return CUDA_ERROR_NOT_FOUND;
    struct pksim_kernel *kernel = pksim_object_new(d, OBJECT_KERNEL, sizeof *kernel, NULL);
    if (!kernel)
        return CUDA_ERROR_OUT_OF_MEMORY;
    kernel->library = library;
    kernel->name = strdup(name);
    if (!kernel->name) {
        pksim_object_delete(d, kernel);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = kernel;
    return CUDA_SUCCESS;
}

CUresult pksim_cuKernelGetFunction(struct driver *d, CUfunction *out, CUkernel handle)
{
    const struct pksim_kernel *kernel = pksim_object_find(d, OBJECT_KERNEL, handle);
    CUmodule module;
    if (!kernel)
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult result = pksim_cuLibraryGetModule(d, &module, kernel->library);
    return result != CUDA_SUCCESS ? result : pksim_cuModuleGetFunction(d, out, module, kernel->name);
}
