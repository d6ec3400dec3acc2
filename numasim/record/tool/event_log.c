#include "event_log.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define FOLDER "NUMASIM_RECORD" /* the variable of the environment that has the folder for the files */

enum { PATH_BYTES = 4096, MODE = 0600, MOST_THREADS = 4096, GRACE_NS = 20 * 1000 * 1000 };

_Thread_local ns_event_log *ns_log;

static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static ns_event_log *logs; /* the one that began last */
static uint32_t threads;
static atomic_bool opened, finished, failed;
static char folder[PATH_BYTES];

void ns_log_begin(void) {
    const char *name = getenv(FOLDER);
    if (!name || strlen(name) >= sizeof folder - 64) return;
    memcpy(folder, name, strlen(name) + 1);
    ns_log_start();
}

bool ns_log_is_on(void) { return *folder && !finished && !failed; }

static void give_up(const char *why) {
    if (!failed) fprintf(stderr, "numasim recorder: %s in %s; nothing more is recorded\n", why, folder);
    failed = true;
}

static void open_file(ns_event_log *self) {
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

void ns_log_flush(ns_event_log *self) {
    const uint64_t begin = ns_ticks();
    write_words(self);
    ns_put(self, begin, NS_EVENT_PAUSE, 0);
    ns_put_operand(self, ns_ticks() - begin);
}

ns_event_log *ns_log_start(void) {
    if (!ns_log_is_on()) return NULL;
    ns_event_log *self =
        mmap(NULL, sizeof *self, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (self == MAP_FAILED) return NULL;
    pthread_mutex_lock(&starting);
    self->first = (uint64_t)++threads << NS_THREAD_SHIFT;
    self->others = logs;
    logs = self;
    pthread_mutex_unlock(&starting);
    self->file = -1;
    self->full = self->words + NS_LOG_WORDS - NS_LOG_SPARE;
    const uint64_t header[NS_HEADER_WORDS] = {NS_EVENT_MAGIC, threads - 1, ns_ticks(), ns_now_ns()};
    memcpy(self->words, header, sizeof header);
    self->next = self->words + NS_HEADER_WORDS;
    ns_log = self;
    return self;
}

void ns_log_open(void) {
    if (!atomic_load_explicit(&opened, memory_order_relaxed)) opened = true;
}

void ns_log_finish(void) {
    if (!ns_log_is_on()) return;
    finished = true;
    /* Another thread may be putting an event that it began before: nothing else tells when it is done. */
    if (threads > 1) nanosleep(&(struct timespec){.tv_nsec = GRACE_NS}, NULL);
    for (ns_event_log *log = logs; log; log = log->others) {
        if (!opened && log->file < 0) continue; /* OpenMP was not used, and nothing has been written so far */
        if (log->next >= log->full) ns_log_flush(log);
        ns_put(log, ns_ticks(), NS_EVENT_END, 0);
        ns_put_operand(log, ns_now_ns());
        write_words(log);
        if (log->file >= 0) close(log->file);
    }
}
