/* Variables that exist for the whole run: the symbol tables of the program and of its shared objects say where each one
 * is and how large.
 */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "event_log.h"
#include "pages.h"

enum { SMALLEST = 64 }; /* bytes: smaller ones are no more than a cache line */
enum { BYTES_OF_WORD = 7, NAME_WORDS = 9 };

typedef struct {
    const char *data;
    size_t bytes;
} image;

typedef struct {
    ns_event_log *log;
    uint64_t flushed; /* ticks of making room in it */
} noting;

/* `count` entries of `size` bytes from `offset` on; NULL where the file is too short. */
static const void *part(const image *file, size_t offset, size_t count, size_t size) {
    const size_t most = size ? (file->bytes - (offset < file->bytes ? offset : file->bytes)) / size : 0;
    return count && count <= most ? file->data + offset : NULL;
}

static void put(noting *self, const char *name, size_t most, uintptr_t address, size_t bytes) {
    const uint64_t now = ns_ticks();
    ns_event_log *log = self->log;
    self->flushed += ns_make_room(log);
    size_t length = strnlen(name, most);
    if (length > NAME_WORDS * BYTES_OF_WORD) length = NAME_WORDS * BYTES_OF_WORD;
    const size_t words = (length + BYTES_OF_WORD - 1) / BYTES_OF_WORD;
    ns_put(log, now, NS_EVENT_GLOBAL, (uint32_t)(2 + words));
    ns_put_operand(log, address);
    ns_put_operand(log, bytes);
    for (size_t word = 0; word < words; word++) {
        uint64_t packed = 0;
        const size_t rest = length - word * BYTES_OF_WORD;
        memcpy(&packed, name + word * BYTES_OF_WORD, rest < BYTES_OF_WORD ? rest : BYTES_OF_WORD);
        ns_put_operand(log, packed);
    }
    if (bytes >= NS_LARGE_BYTES) ns_block_begin((const void *)address, bytes);
}

static void put_symbols(noting *self, const image *file, uintptr_t base, const ElfW(Shdr) * table,
                        const ElfW(Shdr) * texts) {
    const size_t count = table->sh_size / sizeof(ElfW(Sym));
    const ElfW(Sym) *symbols = part(file, table->sh_offset, count, sizeof *symbols);
    const char *names = part(file, texts->sh_offset, texts->sh_size, 1);
    if (!symbols || !names) return;
    for (size_t at = 0; at < count; at++) {
        const ElfW(Sym) *one = &symbols[at];
        const bool is_object = ELF64_ST_TYPE(one->st_info) == STT_OBJECT && one->st_shndx != SHN_UNDEF;
        if (!is_object || one->st_size < SMALLEST || one->st_name >= texts->sh_size) continue;
        put(self, names + one->st_name, texts->sh_size - one->st_name, base + one->st_value, one->st_size);
    }
}

/* The table of all symbols, or that of the symbols for other objects where a file has been stripped of it. */
static void put_file(noting *self, const image *file, uintptr_t base) {
    const ElfW(Ehdr) *head = part(file, 0, 1, sizeof *head);
    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_shentsize != sizeof(ElfW(Shdr))) return;
    const ElfW(Shdr) *sections = part(file, head->e_shoff, head->e_shnum, sizeof *sections);
    if (!sections) return;
    const ElfW(Shdr) *found = NULL;
    for (size_t at = 0; at < head->e_shnum; at++) {
        const bool better = sections[at].sh_type == SHT_SYMTAB || (!found && sections[at].sh_type == SHT_DYNSYM);
        if (better && sections[at].sh_link < head->e_shnum) found = &sections[at];
    }
    if (found) put_symbols(self, file, base, found, &sections[found->sh_link]);
}

static int put_object(struct dl_phdr_info *each, size_t bytes, void *self) {
    (void)bytes;
    const int opened = open(*each->dlpi_name ? each->dlpi_name : "/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (opened < 0) return 0; /* as that of the kernel, which is no file */
    if (fstat(opened, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0) {
        const size_t size = (size_t)about.st_size;
        void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, opened, 0);
        if (data != MAP_FAILED) {
            put_file(self, &(image){data, size}, each->dlpi_addr);
            munmap(data, size);
        }
    }
    close(opened);
    return 0;
}

uint64_t ns_note_globals(ns_event_log *log) {
    noting self = {.log = log};
    dl_iterate_phdr(put_object, &self);
    return self.flushed;
}
