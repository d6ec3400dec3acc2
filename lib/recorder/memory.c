/* Events for the memory of the program: its variables, its allocated blocks, how many pages of these blocks exist
 * (pages exist from their first touch on), and its declared accesses. By these events, addresses of dependences and
 * accesses are places in blocks of known sizes. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "event_log.h"

enum { SMALLEST = 64 };       /* bytes: smaller blocks and variables fit one cache line and get no event */
enum { LARGE_BYTES = 65536 }; /* bytes: blocks from this size on are checked for existing pages */

/* ---- the pages of large blocks that the program has touched ------------------------------------------------------ */

enum { MOST_BLOCKS = 4096, SAMPLES = 16, NOT_LOOKED_AT = -1 };

typedef struct {
    uintptr_t address;
    size_t bytes;
    int touched; /* how many sampled pages of the block existed at the last look */
} large_block;

static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;
static large_block blocks[MOST_BLOCKS]; /* blocks beyond MOST_BLOCKS are not checked */
static size_t block_count;

static void begin_block(const void *address, size_t bytes) {
    pthread_mutex_lock(&changing);
    if (block_count < MOST_BLOCKS) blocks[block_count++] = (large_block){(uintptr_t)address, bytes, NOT_LOOKED_AT};
    pthread_mutex_unlock(&changing);
}

static void end_block(const void *address) {
    pthread_mutex_lock(&changing);
    for (size_t i = block_count; i > 0; i--) {
        if (blocks[i - 1].address != (uintptr_t)address) continue;
        blocks[i - 1] = blocks[--block_count];
        break;
    }
    pthread_mutex_unlock(&changing);
}

/* Divide a block into SAMPLES equal parts. Return the number of parts whose middle page exists. */
static int touched_samples(const large_block *self) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    int found = 0;
    for (uintptr_t i = 0; i < SAMPLES; i++) {
        const uintptr_t at = self->address + self->bytes / (2 * SAMPLES) * (2 * i + 1);
        unsigned char exists = 0;
        if (mincore((void *)(at & ~(page - 1)), 1, &exists) == 0) found += exists & 1;
    }
    return found;
}

/* Put an event if the number of existing sampled pages of a block has changed, and the log has room. */
static void note(ns_event_log *log, large_block *self) {
    if (self->touched == SAMPLES || log->next >= log->full) return;
    const int found = touched_samples(self);
    if (found == self->touched) return;
    self->touched = found;
    ns_put(log, ns_ticks(), NS_EVENT_TOUCHED, (uint32_t)found);
    ns_put_operand(log, self->address);
}

/* Write the log to its file if it is full, which puts a pause event. Return how many ticks this took. */
static uint64_t make_room(ns_event_log *log) {
    const uint64_t begin = ns_ticks();
    if (log->next < log->full) return 0;
    ns_log_flush(log);
    return ns_ticks() - begin;
}

/* ---- wrappers of the C library's allocation functions: they call the wrapped function and put an event ----------- */

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *block, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);
extern void __libc_free(void *block);
extern size_t malloc_usable_size(void *block);

static void *noted(void *block, size_t bytes) {
    if (!block || bytes < SMALLEST || !ns_log_is_on()) return block;
    ns_event_log *log = ns_note(ns_ticks(), NS_EVENT_ALLOCATE, 0);
    if (!log) return block;
    ns_put_operands(log, (uintptr_t)block, bytes);
    if (bytes >= LARGE_BYTES) begin_block(block, bytes);
    return block;
}

static void note_release(void *block) {
    if (!block || !ns_log_is_on()) return;
    const size_t bytes = malloc_usable_size(block);
    if (bytes < SMALLEST) return;
    ns_event_log *log = ns_note(ns_ticks(), NS_EVENT_RELEASE, 0);
    if (!log) return;
    ns_put_operand(log, (uintptr_t)block);
    if (bytes >= LARGE_BYTES) end_block(block);
}

void *malloc(size_t bytes) { return noted(__libc_malloc(bytes), bytes); }

void *calloc(size_t count, size_t bytes) { return noted(__libc_calloc(count, bytes), count * bytes); }

void *realloc(void *block, size_t bytes) {
    note_release(block);
    return noted(__libc_realloc(block, bytes), bytes);
}

void *memalign(size_t alignment, size_t bytes) { return noted(__libc_memalign(alignment, bytes), bytes); }

void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void **block, size_t alignment, size_t bytes) {
    if (alignment % sizeof(void *) || !alignment || (alignment & (alignment - 1))) return EINVAL;
    void *made = memalign(alignment, bytes);
    if (!made) return ENOMEM;
    *block = made;
    return 0;
}

void free(void *block) {
    note_release(block);
    __libc_free(block);
}

/* ---- variables that exist for the whole run, from the symbol tables of the program and of its shared objects ----- */

enum { BYTES_OF_WORD = 7, NAME_WORDS = 9 };

typedef struct {
    const char *data;
    size_t bytes;
} image;

typedef struct {
    ns_event_log *log;
    uint64_t flushed; /* the ticks that writing full logs took */
} noting;

/* Return the address of `count` entries of `size` bytes at `offset` of the file; NULL if the file is too short. */
static const void *part(const image *file, size_t offset, size_t count, size_t size) {
    const size_t most = size ? (file->bytes - (offset < file->bytes ? offset : file->bytes)) / size : 0;
    return count && count <= most ? file->data + offset : NULL;
}

static void put(noting *self, const char *name, size_t most, uintptr_t address, size_t bytes) {
    const uint64_t now = ns_ticks();
    ns_event_log *log = self->log;
    self->flushed += make_room(log);
    size_t length = strnlen(name, most);
    if (length > NAME_WORDS * BYTES_OF_WORD) length = NAME_WORDS * BYTES_OF_WORD;
    const size_t words = (length + BYTES_OF_WORD - 1) / BYTES_OF_WORD;
    ns_put(log, now, NS_EVENT_GLOBAL, (uint32_t)(2 + words));
    ns_put_operands(log, address, bytes);
    for (size_t word = 0; word < words; word++) {
        uint64_t packed = 0;
        const size_t rest = length - word * BYTES_OF_WORD;
        memcpy(&packed, name + word * BYTES_OF_WORD, rest < BYTES_OF_WORD ? rest : BYTES_OF_WORD);
        ns_put_operand(log, packed);
    }
    if (bytes >= LARGE_BYTES) begin_block((const void *)address, bytes);
}

/* Put the variables of one file: from its full symbol table, or from its dynamic symbol table if the file is
 * stripped. */
static void put_file(noting *self, const image *file, uintptr_t base) {
    const ElfW(Ehdr) *head = part(file, 0, 1, sizeof *head);
    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_shentsize != sizeof(ElfW(Shdr))) return;
    const ElfW(Shdr) *sections = part(file, head->e_shoff, head->e_shnum, sizeof *sections), *table = NULL;
    for (size_t at = 0; sections && at < head->e_shnum; at++) {
        const bool better = sections[at].sh_type == SHT_SYMTAB || (!table && sections[at].sh_type == SHT_DYNSYM);
        if (better && sections[at].sh_link < head->e_shnum) table = &sections[at];
    }
    if (!table) return;
    const ElfW(Shdr) *texts = &sections[table->sh_link];
    const size_t count = table->sh_size / sizeof(ElfW(Sym));
    const ElfW(Sym) *symbols = part(file, table->sh_offset, count, sizeof *symbols);
    const char *names = part(file, texts->sh_offset, texts->sh_size, 1);
    for (size_t at = 0; symbols && names && at < count; at++) {
        const ElfW(Sym) *one = &symbols[at];
        const bool is_object = ELF64_ST_TYPE(one->st_info) == STT_OBJECT && one->st_shndx != SHN_UNDEF;
        if (!is_object || one->st_size < SMALLEST || one->st_name >= texts->sh_size) continue;
        put(self, names + one->st_name, texts->sh_size - one->st_name, base + one->st_value, one->st_size);
    }
}

static int put_object(struct dl_phdr_info *each, size_t bytes, void *self) {
    const int opened = open(*each->dlpi_name ? each->dlpi_name : "/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (opened < 0) return 0; /* some loaded objects have no file, such as the kernel's vdso */
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

void ns_note_touched(ns_event_log *log) {
    static atomic_flag noted = ATOMIC_FLAG_INIT;
    const uint64_t begin = ns_ticks();
    noting self = {.log = log};
    if (!atomic_flag_test_and_set(&noted)) dl_iterate_phdr(put_object, &self);
    self.flushed += make_room(log);
    pthread_mutex_lock(&changing);
    for (size_t i = 0; i < block_count; i++) note(log, &blocks[i]);
    pthread_mutex_unlock(&changing);
    ns_put(log, begin, NS_EVENT_PAUSE, 0);
    ns_put_operand(log, ns_ticks() - begin - self.flushed);
}

/* ---- the functions behind numasim/record.h, which exist only if a recorder is preloaded -------------------------- */

void ns_recorder_tile(const void *begin, size_t rows, size_t bytes, size_t stride, int mode) {
    ns_event_log *log = rows && bytes ? ns_note(ns_ticks(), NS_EVENT_ACCESS, (uint32_t)mode) : NULL;
    if (log) ns_put_operands(log, (uintptr_t)begin, bytes, rows, rows == 1 ? 0 : stride);
}

void ns_recorder_access(const void *begin, size_t bytes, int mode) { ns_recorder_tile(begin, 1, bytes, 0, mode); }
