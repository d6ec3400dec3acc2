#include "numasim/runtime.h"

static const char *const SENTENCE[] = {
    "nothing is wrong",
    "there is not enough memory",
    "a file cannot be read or written",
    "the file is damaged, or was written by another version",
    "the plan lacks a field, or has one out of bounds",
    "a task calls what it must not, or the program is not the one that the plan was made for",
    "tasks are left that no worker can ever run",
    "a thread cannot be started or pinned",
    "an option or an argument has a value that it cannot have",
    "this build, machine or mode cannot do that",
    "the pool is in use, or its threads are those of the process that this one was forked from",
};

const char *ns_error_sentence(int error) {
    const int count = (int)(sizeof SENTENCE / sizeof *SENTENCE);
    return -count < error && error <= 0 ? SENTENCE[-error] : "an unknown error";
}
