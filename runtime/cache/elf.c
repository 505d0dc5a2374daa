/* The strings of an ELF file that the loader reads. libelf checks the tables' bounds; what it can't read has no such strings. */
#include <fcntl.h>
#include <gelf.h>
#include <string.h>

#include "cache/scan.h"

typedef struct {
    Elf *elf;
    bg_elf_string *out;
    size_t n, max;
    uint64_t dynstr_offset, dynstr_size; /* file range of the dynamic string table */
} finder;

static void add(finder *f, uint64_t offset, uint64_t len, bg_place_kind kind)
{
    if (f->n < f->max && len != 0)
        f->out[f->n++] = (bg_elf_string){offset, len, kind, false};
}

/* A name at `name` of the string table uses bytes of an RPATH string if it starts inside or before and reaches into it. */
static void use(finder *f, const char *bytes, uint64_t name)
{
    if (name >= f->dynstr_size)
        return;
    uint64_t at = f->dynstr_offset + name;
    uint64_t end = at + strnlen(bytes + at, f->dynstr_size - name);
    for (size_t i = 0; i < f->n; i++) {
        bg_elf_string *s = &f->out[i];
        if (s->kind == BG_PLACE_RPATH && at < s->offset + s->len && end > s->offset && end != at)
            s->shared = true;
    }
}

static void names_of_symbols(finder *f, const char *bytes, Elf_Scn *scn, const GElf_Shdr *sh)
{
    Elf_Data *data = elf_getdata(scn, NULL);
    if (data == NULL || sh->sh_entsize == 0)
        return;
    for (size_t i = 0; i < sh->sh_size / sh->sh_entsize; i++) {
        GElf_Sym sym;
        if (gelf_getsym(data, (int)i, &sym) != NULL)
            use(f, bytes, sym.st_name);
    }
}

static void names_of_versions(finder *f, const char *bytes, Elf_Scn *scn, const GElf_Shdr *sh)
{
    Elf_Data *data = elf_getdata(scn, NULL);
    if (data == NULL)
        return;
    if (sh->sh_type == SHT_GNU_verneed) {
        GElf_Verneed need;
        for (size_t at = 0; gelf_getverneed(data, (int)at, &need) != NULL; at += need.vn_next) {
            use(f, bytes, need.vn_file);
            GElf_Vernaux aux;
            for (size_t a = at + need.vn_aux; gelf_getvernaux(data, (int)a, &aux) != NULL; a += aux.vna_next) {
                use(f, bytes, aux.vna_name);
                if (aux.vna_next == 0)
                    break;
            }
            if (need.vn_next == 0)
                break;
        }
    } else {
        GElf_Verdef def;
        for (size_t at = 0; gelf_getverdef(data, (int)at, &def) != NULL; at += def.vd_next) {
            GElf_Verdaux aux;
            for (size_t a = at + def.vd_aux; gelf_getverdaux(data, (int)a, &aux) != NULL; a += aux.vda_next) {
                use(f, bytes, aux.vda_name);
                if (aux.vda_next == 0)
                    break;
            }
            if (def.vd_next == 0)
                break;
        }
    }
}

static bool is_rpath(int64_t tag)
{
    return tag == DT_RPATH || tag == DT_RUNPATH;
}

static void find_rpaths(finder *f, const char *bytes, size_t n, Elf_Scn *scn, const GElf_Shdr *sh)
{
    GElf_Shdr strings;
    Elf_Scn *str = elf_getscn(f->elf, sh->sh_link);
    Elf_Data *data = elf_getdata(scn, NULL);
    if (str == NULL || data == NULL || gelf_getshdr(str, &strings) == NULL || strings.sh_type != SHT_STRTAB ||
        strings.sh_offset > n || strings.sh_size > n - strings.sh_offset || sh->sh_entsize == 0)
        return;
    f->dynstr_offset = strings.sh_offset;
    f->dynstr_size = strings.sh_size;
    size_t count = sh->sh_size / sh->sh_entsize;
    GElf_Dyn dyn;
    for (size_t i = 0; i < count && gelf_getdyn(data, (int)i, &dyn) != NULL; i++) {
        if (is_rpath(dyn.d_tag) && dyn.d_un.d_val < strings.sh_size) {
            uint64_t at = strings.sh_offset + dyn.d_un.d_val;
            add(f, at, strnlen(bytes + at, strings.sh_size - dyn.d_un.d_val), BG_PLACE_RPATH);
        }
    }
    for (size_t i = 0; i < count && gelf_getdyn(data, (int)i, &dyn) != NULL; i++) {
        if (dyn.d_tag == DT_NEEDED || dyn.d_tag == DT_SONAME || dyn.d_tag == DT_AUXILIARY || dyn.d_tag == DT_FILTER)
            use(f, bytes, dyn.d_un.d_val);
    }
}

static void find_interp(finder *f, const char *bytes, size_t n)
{
    size_t count = 0;
    if (elf_getphdrnum(f->elf, &count) != 0)
        return;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr ph;
        if (gelf_getphdr(f->elf, (int)i, &ph) == NULL || ph.p_type != PT_INTERP || ph.p_offset >= n ||
            ph.p_filesz > n - ph.p_offset)
            continue;
        add(f, ph.p_offset, strnlen(bytes + ph.p_offset, ph.p_filesz), BG_PLACE_INTERP);
    }
}

size_t bg_elf_strings(const char *bytes, size_t n, bg_elf_string *out, size_t max)
{
    if (elf_version(EV_CURRENT) == EV_NONE)
        return 0;
    /* libelf only reads: the image is opened for reading. */
    finder f = {.elf = elf_memory((char *)(uintptr_t)bytes, n), .out = out, .max = max};
    if (f.elf == NULL)
        return 0;
    if (elf_kind(f.elf) == ELF_K_ELF) {
        find_interp(&f, bytes, n);
        Elf_Scn *scn = NULL;
        GElf_Shdr sh;
        while ((scn = elf_nextscn(f.elf, scn)) != NULL) {
            if (gelf_getshdr(scn, &sh) != NULL && sh.sh_type == SHT_DYNAMIC)
                find_rpaths(&f, bytes, n, scn, &sh);
        }
        while ((scn = elf_nextscn(f.elf, scn)) != NULL) {
            if (gelf_getshdr(scn, &sh) == NULL)
                continue;
            if (sh.sh_type == SHT_DYNSYM)
                names_of_symbols(&f, bytes, scn, &sh);
            else if (sh.sh_type == SHT_GNU_verneed || sh.sh_type == SHT_GNU_verdef)
                names_of_versions(&f, bytes, scn, &sh);
        }
    }
    elf_end(f.elf);
    return f.n;
}
