#include "numasim/runtime.h"

static const char *const SENTENCE[] = {
    "nothing is wrong",
    "there is not enough memory",
    "a file cannot be read or written",
    "the file is damaged, or was written by another version",
    "the plan lacks a field, or has one out of bounds",
    "the program is not the one that the plan was made for",
    "tasks are left that no worker can ever run",
    "a thread cannot be started or pinned",
    "an option has a value that it cannot have",
    "this build, machine or mode cannot do that",
};

const char *ns_error_sentence(int error) {
    const int count = (int)(sizeof SENTENCE / sizeof *SENTENCE);
    return -count < error && error <= 0 ? SENTENCE[-error] : "an unknown error";
}
