#include "record/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_LINKS = 40, MODE_BITS = 07777, NEW_MODE = 0666 };

/* Return where the last component of a path begins. */
static size_t name_at(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* ---- the targets of links ---------------------------------------------------------------------------------------- */

/* Return the descriptor of this process that a path such as /dev/fd/3 names, or -1. */
static int descriptor_of(const char *path) {
    const size_t length = name_at(path); /* length of the folder's path, with its last slash */
    const char *name = path + length;
    char folder[PATH_MAX], real[PATH_MAX], own[64];
    snprintf(folder, sizeof folder, "%.*s", length ? (int)length : 1, length ? path : ".");
    snprintf(own, sizeof own, "/proc/%ld/fd", (long)getpid());
    const bool number = *name && strspn(name, "0123456789") == strlen(name);
    return number && realpath(folder, real) && strcmp(real, own) == 0 ? atoi(name) : -1;
}

/* Replace `path` by the target of its link. Return false if it is not a link, or its target is too long (`*error`). */
static bool follow(char path[PATH_MAX], int *error) {
    char target[PATH_MAX], followed[2 * PATH_MAX];
    const ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0) return false;
    target[length] = '\0';
    const size_t kept = *target == '/' ? 0 : name_at(path);
    snprintf(followed, sizeof followed, "%.*s%s", (int)kept, path, target);
    if (strlen(followed) >= PATH_MAX) *error = ENAMETOOLONG;
    snprintf(path, PATH_MAX, "%.*s", PATH_MAX - 1, followed);
    return !*error;
}

/* Follow all links from self->end on. If the last target is a descriptor of this process, `*descriptor` is this
 * descriptor, else -1. Return 0 or an errno. */
static int find_end(ns_output_file *self, int *descriptor) {
    int error = 0;
    for (int links = 0; links < MOST_LINKS; links++) {
        *descriptor = descriptor_of(self->end);
        if (*descriptor >= 0 || !follow(self->end, &error)) return error;
    }
    return ELOOP;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

/* Examine the last target of the links; `known` has mode 0 if there is no file. Return 0, or an errno if the target
 * cannot be written. */
static int examine(const ns_output_file *self, struct stat *known) {
    if (stat(self->end, known)) {
        known->st_mode = 0;
        return errno == ENOENT && self->end[name_at(self->end)] ? 0 : errno;
    }
    if (S_ISDIR(known->st_mode)) return EISDIR;
    return access(self->end, W_OK) == 0 ? 0 : errno;
}

/* Choose a new name in the folder of the target, cut to the longest that file systems allow. Return 0 or an errno. */
static int name_temporary(ns_output_file *self) {
    uint64_t random = 0;
    char name[NAME_MAX + 1];
    const size_t folder = name_at(self->end);
    if (getrandom(&random, sizeof random, 0) != sizeof random) return EAGAIN;
    const int bytes = snprintf(name, sizeof name, ".tmp-%016" PRIx64 "-%s", random, self->end + folder);
    if (bytes < 0 || folder + strlen(name) >= PATH_MAX) return ENAMETOOLONG;
    memcpy(self->temporary, self->end, folder);
    memcpy(self->temporary + folder, name, strlen(name) + 1);
    return 0;
}

/* Give a new, empty file the owner and the mode of the file that it will replace. Return 0 or an errno. */
static int make_like(int handle, const struct stat *known) {
    if (fchown(handle, known->st_uid, known->st_gid) && errno != EPERM) return errno;
    return fchmod(handle, known->st_mode & MODE_BITS) ? errno : 0;
}

static int open_temporary(ns_output_file *self, int *handle, const struct stat *known) {
    int error = name_temporary(self);
    if (error) return error;
    *handle = open(self->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, NEW_MODE);
    if (*handle < 0) {
        error = errno;
        *self->temporary = '\0'; /* another process made a file of this name */
    }
    if (!error && known->st_mode) error = make_like(*handle, known);
    return error;
}

static int open_end(ns_output_file *self, int *handle) {
    struct stat known;
    const int error = examine(self, &known);
    if (error) return error;
    if (!known.st_mode || S_ISREG(known.st_mode)) return open_temporary(self, handle, &known);
    *handle = open(self->end, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    return *handle < 0 ? errno : 0;
}

/* Duplicate a descriptor, after flushing all output printed before. Return 0 or an errno. */
static int duplicate(int descriptor, int *handle) {
    fflush(stdout);
    *handle = dup(descriptor);
    return *handle < 0 ? errno : 0;
}

static void discard(ns_output_file *self, int handle) {
    if (handle >= 0) close(handle);
    if (*self->temporary) unlink(self->temporary);
}

int ns_output_file_open(ns_output_file *self, const char *path) {
    int handle = -1, descriptor = -1;
    *self = (ns_output_file){0};
    if (strlen(path) >= sizeof self->end) return ENAMETOOLONG;
    memcpy(self->end, path, strlen(path) + 1);
    int error = find_end(self, &descriptor);
    if (!error) error = descriptor >= 0 ? duplicate(descriptor, &handle) : open_end(self, &handle);
    if (!error && !(self->file = fdopen(handle, "w"))) error = errno;
    if (error) discard(self, handle);
    return error;
}

/* ---- closing ----------------------------------------------------------------------------------------------------- */

int ns_output_file_close(ns_output_file *self) {
    int error = fflush(self->file) ? errno : 0;
    if (!error && ferror(self->file)) error = EIO; /* an earlier write failed, and its errno is lost */
    if (!error && *self->temporary && fsync(fileno(self->file))) error = errno;
    if (fclose(self->file) && !error) error = errno;
    if (!error && *self->temporary && rename(self->temporary, self->end)) error = errno;
    if (error) discard(self, -1);
    return error;
}

void ns_json_write_text(FILE *file, const char *text) {
    fputc('"', file);
    for (; *text; text++) {
        const unsigned char letter = (unsigned char)*text;
        if (letter < 0x20) {
            fprintf(file, "\\u%04x", letter);
        } else {
            if (letter == '"' || letter == '\\') fputc('\\', file);
            fputc(letter, file);
        }
    }
    fputc('"', file);
}
