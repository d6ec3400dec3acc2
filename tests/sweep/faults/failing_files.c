/* Lets the n-th file-system call in a folder fail, in processes that preload this library. Calls count if their path
 * is in the folder, or their descriptor was opened there. Each call has a list of errors below; its manual page has
 * others. A short read or write transfers half of the requested bytes. Nothing is flushed to the disk.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_PATH = 4096, MOST_FILES = 4096, MOST_FOLDERS = 64, MOST_CHOICES = 5, SHORT = -1 };

typedef struct {
    const char* name;
    int choice[MOST_CHOICES]; /* error numbers, or SHORT; 0 marks the end */
} call;

static const call OPEN = {"open", {EACCES, EIO, ENOSPC, EINTR, EMFILE}}, READ = {"read", {EIO, EINTR, SHORT}},
                  WRITE = {"write", {ENOSPC, EIO, EINTR, SHORT}}, CLOSE = {"close", {EIO}},
                  FSYNC = {"fsync", {EIO, ENOSPC, EINTR}}, RENAME = {"rename", {EACCES, EIO, ENOSPC}},
                  MKDIR = {"mkdir", {EACCES, ENOSPC, EIO}}, RMDIR = {"rmdir", {EACCES, EIO}},
                  UNLINK = {"unlink", {EACCES, EIO}}, OPENDIR = {"opendir", {EACCES, EIO, EMFILE}},
                  READDIR = {"readdir", {EIO}}, STAT = {"stat", {EACCES, EIO}}, FSTAT = {"fstat", {EIO}},
                  ACCESS = {"access", {EACCES, EIO}}, READLINK = {"readlink", {EACCES, EIO}},
                  FLOCK = {"flock", {ENOLCK, EIO, EINTR}}, FCHMOD = {"fchmod", {EPERM, EIO}},
                  FCHOWN = {"fchown", {EPERM, EIO}}, SEEK = {"lseek", {EIO}};

static char root[MOST_PATH];
static long left;          /* calls until the failing call; 0: no call fails */
static int choice;         /* number of the failing call's error */
static const call* failed; /* the call that has failed */
static bool opened[MOST_FILES];
static DIR* folders[MOST_FOLDERS];

/* Let only call number `nth` in `folder`, counted from 1, fail, with its error number `which` modulo the number of its
 * errors. */
void failing_files_begin(const char* folder, long nth, int which) {
    strncpy(root, folder, sizeof root - 1);
    left = nth;
    choice = which;
    failed = NULL;
}

/* Return the name of the call that has failed; NULL if there were fewer calls. */
const char* failing_files_call(void) { return failed ? failed->name : NULL; }

/* Return the number of errors of the failed call. */
int failing_files_choices(void) {
    int count = 0;
    while (failed && count < MOST_CHOICES && failed->choice[count]) count++;
    return count;
}

/* Return the error of the failed call, or SHORT; 0 if there were fewer calls. */
int failing_files_error(void) { return failed ? failed->choice[choice % failing_files_choices()] : 0; }

static bool is_in(const char* path) {
    const size_t length = strlen(root);
    return length && path && !strncmp(path, root, length) && (path[length] == '/' || !path[length]);
}

static bool is_open(int file) { return 0 <= file && file < MOST_FILES && opened[file]; }

/* Return the error with which the call has to fail, or SHORT; 0: the call does not fail. */
static int fault(const call* self) {
    if (!left || --left) return 0;
    failed = self;
    const int error = failing_files_error();
    if (error > 0) errno = error;
    return error;
}

static bool fails(const call* self) { return fault(self) > 0; }

#define REAL(name) ((__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name))

/* ---- by path ----------------------------------------------------------------------------------------------------- */

static int keep(int file, bool is_ours) {
    if (0 <= file && file < MOST_FILES) opened[file] = is_ours;
    return file;
}

#define OPENS(name)                                              \
    int name(const char* path, int flags, ...) {                 \
        va_list rest;                                            \
        va_start(rest, flags);                                   \
        const mode_t mode = (mode_t)va_arg(rest, int);           \
        va_end(rest);                                            \
        if (is_in(path) && fails(&OPEN)) return -1;              \
        return keep(REAL(name)(path, flags, mode), is_in(path)); \
    }
OPENS(open)
OPENS(open64)

#define BY_PATH(type, bad, name, call, parameters, arguments) \
    type name parameters {                                    \
        if (is_in(path) && fails(&call)) return bad;          \
        return REAL(name) arguments;                          \
    }
BY_PATH(int, -1, mkdir, MKDIR, (const char* path, mode_t mode), (path, mode))
BY_PATH(int, -1, rmdir, RMDIR, (const char* path), (path))
BY_PATH(int, -1, unlink, UNLINK, (const char* path), (path))
BY_PATH(int, -1, rename, RENAME, (const char* old, const char* path), (old, path))
BY_PATH(int, -1, access, ACCESS, (const char* path, int mode), (path, mode))
BY_PATH(ssize_t, -1, readlink, READLINK, (const char* path, char* end, size_t size), (path, end, size))
BY_PATH(int, -1, stat, STAT, (const char* path, struct stat* found), (path, found))
BY_PATH(int, -1, lstat, STAT, (const char* path, struct stat* found), (path, found))
BY_PATH(int, -1, stat64, STAT, (const char* path, struct stat64* found), (path, found))
BY_PATH(int, -1, lstat64, STAT, (const char* path, struct stat64* found), (path, found))
BY_PATH(int, -1, fstatat, STAT, (int from, const char* path, struct stat* found, int flags), (from, path, found, flags))
BY_PATH(int, -1, fstatat64, STAT, (int from, const char* path, struct stat64* found, int flags),
        (from, path, found, flags))

/* ---- folders that are read --------------------------------------------------------------------------------------- */

DIR* opendir(const char* path) {
    if (is_in(path) && fails(&OPENDIR)) return NULL;
    DIR* folder = REAL(opendir)(path);
    for (int at = 0; folder && is_in(path) && at < MOST_FOLDERS; at++) {
        if (folders[at]) continue;
        folders[at] = folder;
        break;
    }
    return folder;
}

static DIR** known(DIR* folder) {
    for (int at = 0; at < MOST_FOLDERS; at++) {
        if (folders[at] == folder) return &folders[at];
    }
    return NULL;
}

int closedir(DIR* folder) {
    DIR** place = known(folder);
    if (place) *place = NULL;
    return REAL(closedir)(folder);
}

struct dirent* readdir(DIR* folder) { return known(folder) && fails(&READDIR) ? NULL : REAL(readdir)(folder); }

struct dirent64* readdir64(DIR* folder) { return known(folder) && fails(&READDIR) ? NULL : REAL(readdir64)(folder); }

/* ---- by descriptor ----------------------------------------------------------------------------------------------- */

#define BY_FILE(type, name, call, parameters, arguments) \
    type name parameters {                               \
        if (is_open(file) && fails(&call)) return -1;    \
        return REAL(name) arguments;                     \
    }
BY_FILE(int, flock, FLOCK, (int file, int operation), (file, operation))
BY_FILE(int, fchmod, FCHMOD, (int file, mode_t mode), (file, mode))
BY_FILE(int, fchown, FCHOWN, (int file, uid_t owner, gid_t group), (file, owner, group))
BY_FILE(int, fstat, FSTAT, (int file, struct stat* found), (file, found))
BY_FILE(int, fstat64, FSTAT, (int file, struct stat64* found), (file, found))
BY_FILE(off_t, lseek, SEEK, (int file, off_t offset, int from), (file, offset, from))
BY_FILE(off64_t, lseek64, SEEK, (int file, off64_t offset, int from), (file, offset, from))

/* Return `size` or, for SHORT, half of `size`, at least 1: 0 bytes would mean the end of the file. */
static size_t size_after(int error, size_t size) { return error == SHORT && size > 1 ? size / 2 : size; }

ssize_t read(int file, void* bytes, size_t size) {
    const int error = is_open(file) ? fault(&READ) : 0;
    return error > 0 ? -1 : REAL(read)(file, bytes, size_after(error, size));
}

ssize_t write(int file, const void* bytes, size_t size) {
    const int error = is_open(file) ? fault(&WRITE) : 0;
    return error > 0 ? -1 : REAL(write)(file, bytes, size_after(error, size));
}

int fsync(int file) {
    if (!is_open(file)) return REAL(fsync)(file);
    return fails(&FSYNC) ? -1 : 0;
}

/* The descriptor is closed even if the call fails, as in Linux. */
int close(int file) {
    const bool is_ours = is_open(file);
    const int done = REAL(close)(keep(file, false));
    if (!is_ours || !fails(&CLOSE)) return done;
    return -1;
}
