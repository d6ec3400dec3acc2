#include "event_log.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define FOLDER "NUMASIM_RECORD" /* the environment variable with the folder for the event files */

enum { PATH_BYTES = 4096, MODE = 0600, GRACE_NS = 20 * 1000 * 1000, AWAY_NS = 5000 };

_Thread_local ns_event_log *ns_log;

static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static ns_event_log *logs; /* the log that was made last; the logs form a list */
static uint32_t threads;   /* how many threads have got a number */
static atomic_bool opened, finished, failed;
static char folder[PATH_BYTES];

bool ns_log_is_on(void) { return *folder && !finished && !failed; }

static void give_up(const char *why) {
    if (!failed) fprintf(stderr, "numasim recorder: %s in %s; nothing more is recorded\n", why, folder);
    failed = true;
}

void ns_log_number(ns_event_log *self) {
    pthread_mutex_lock(&starting);
    self->words[1] = threads; /* the header's word for the thread's number, not yet written to the file */
    self->first = (uint64_t)++threads << NS_THREAD_SHIFT;
    pthread_mutex_unlock(&starting);
}

static void open_file(ns_event_log *self) {
    if (!self->first) ns_log_number(self);
    char path[PATH_BYTES + 64];
    const uint64_t thread = (self->first >> NS_THREAD_SHIFT) - 1;
    snprintf(path, sizeof path, "%s/%ld-%llu.events", folder, (long)getpid(), (unsigned long long)thread);
    self->file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, MODE);
    if (self->file < 0) give_up("an event file cannot be made");
}

static void write_words(ns_event_log *self) {
    if (self->file < 0 && !failed) open_file(self);
    const char *next = (const char *)self->words;
    while (!failed && next < (const char *)self->next) {
        const ssize_t bytes = write(self->file, next, (size_t)((const char *)self->next - next));
        if (bytes < 0)
            give_up("an event file cannot be written");
        else
            next += bytes;
    }
    self->next = self->words;
}

/* Return how often the thread has given up its processor, as when it waits. */
static int64_t waits(void) {
    struct rusage used;
    return getrusage(RUSAGE_THREAD, &used) ? 0 : used.ru_nvcsw;
}

static void look_at_clocks(ns_event_log *self) {
    self->wall_ns = ns_now_ns();
    self->busy_ns = ns_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Put a pause event from `begin` to now. The clocks are read after the pause, so that time without a processor during
 * the pause does not count as an absence, too. */
static void put_pause(ns_event_log *self, uint64_t begin) {
    ns_put_plain(self, begin, NS_EVENT_PAUSE, 0);
    ns_put_operand(self, ns_ticks() - begin);
    look_at_clocks(self);
}

void ns_note_away(ns_event_log *self, uint64_t ticks) {
    const uint64_t wall_ns = self->wall_ns, used_ns = self->busy_ns;
    look_at_clocks(self);
    const uint64_t late = ns_ticks() - ticks;
    const int64_t away = (int64_t)(self->wall_ns - wall_ns) - (int64_t)(self->busy_ns - used_ns);
    if (away > AWAY_NS) {
        const int64_t before = self->waits;
        self->waits = waits();
        ns_put_plain(self, ticks, NS_EVENT_AWAY, self->waits != before);
        ns_put_operands(self, (uint64_t)away, late);
    }
    put_pause(self, ticks);
}

void ns_log_flush(ns_event_log *self) {
    const uint64_t begin = ns_ticks();
    write_words(self);
    put_pause(self, begin);
}

ns_event_log *ns_log_start(void) {
    if (!ns_log_is_on()) return NULL;
    ns_event_log *self =
        mmap(NULL, sizeof *self, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (self == MAP_FAILED) return NULL;
    pthread_mutex_lock(&starting);
    self->others = logs;
    logs = self;
    pthread_mutex_unlock(&starting);
    self->file = -1;
    self->full = self->words + NS_LOG_WORDS - NS_LOG_SPARE;
    look_at_clocks(self);
    self->waits = waits();
    self->seen = ns_ticks();
    const uint64_t header[NS_HEADER_WORDS] = {NS_EVENT_MAGIC, 0, self->seen, ns_now_ns()};
    memcpy(self->words, header, sizeof header);
    self->next = self->words + NS_HEADER_WORDS;
    ns_log = self;
    return self;
}

void ns_log_open(void) {
    if (!atomic_load_explicit(&opened, memory_order_relaxed)) opened = true;
}

static void put_end(ns_event_log *self, void put(ns_event_log *, uint64_t, enum ns_event_kind, uint32_t)) {
    put(self, ns_ticks(), NS_EVENT_END, 0);
    ns_put_operand(self, ns_now_ns());
}

static int write_module(struct dl_phdr_info *each, size_t bytes, void *file) {
    uintptr_t end = each->dlpi_addr;
    for (size_t i = 0; i < each->dlpi_phnum; i++) {
        const uintptr_t last = each->dlpi_addr + each->dlpi_phdr[i].p_vaddr + each->dlpi_phdr[i].p_memsz;
        if (each->dlpi_phdr[i].p_type == PT_LOAD && last > end) end = last;
    }
    char program[PATH_BYTES] = "";
    if (!*each->dlpi_name && readlink("/proc/self/exe", program, sizeof program - 1) < 0) return 0;
    dprintf(*(const int *)file, "%llx %llx %s\n", (unsigned long long)each->dlpi_addr, (unsigned long long)end,
            *each->dlpi_name ? each->dlpi_name : program);
    return 0;
}

/* Write a line for each file that the process has loaded: the begin and the end of the file in memory, and the path. */
static void write_modules(void) {
    char path[PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s/%ld.modules", folder, (long)getpid());
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, MODE); /* a new file, as the files of events are */
    if (file < 0) return;
    dl_iterate_phdr(write_module, &file);
    close(file);
}

void ns_log_finish(void) {
    if (!ns_log_is_on()) return;
    finished = true;
    if (ns_log && ns_log->next >= ns_log->full) ns_log_flush(ns_log);
    if (ns_log) put_end(ns_log, ns_put);
    /* Another thread may still be putting an event, and nothing tells when the event is complete: wait for GRACE_NS. */
    if (logs && logs->others) nanosleep(&(struct timespec){.tv_nsec = GRACE_NS}, NULL);
    for (ns_event_log *log = logs; log; log = log->others) {
        if (!opened && log->file < 0) continue; /* the process has not used OpenMP, and has written nothing */
        if (log != ns_log && log->next >= log->full) ns_log_flush(log);
        if (log != ns_log) put_end(log, ns_put_plain);
        write_words(log);
        if (log->file >= 0) close(log->file);
    }
    if (opened) write_modules();
}

/* ---- the begin and the end of a process that records ------------------------------------------------------------- */

/* Let the OpenMP runtime read the topology of the machine now. Otherwise the runtime reads the topology at some moment
 * of the program, which then takes longer. */
static void prepare_openmp(void) {
    int (*prepare)(void) = NULL;
    void *found = dlsym(RTLD_DEFAULT, "omp_get_max_threads");
    memcpy(&prepare, &found, sizeof prepare);
    if (prepare) prepare();
}

__attribute__((constructor)) static void begin(void) {
    const char *name = getenv(FOLDER);
    if (!name || strlen(name) >= sizeof folder - 64) return;
    memcpy(folder, name, strlen(name) + 1);
    ns_log_start();
    if (!ns_log_is_on()) return;
    prepare_openmp();
    ns_note(ns_ticks(), NS_EVENT_START, 0);
}

__attribute__((destructor)) static void end(void) { ns_log_finish(); }
