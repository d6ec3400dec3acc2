/* The format of the event files. The recorder writes one file for each thread: words of 64 bits in the machine's byte
 * order.
 *
 * A header of NS_HEADER_WORDS words is followed by events. The first word of an event has 1 in its lowest bit, the kind
 * of the event in bits 1 to 7, a small argument in bits 8 to 15 and the time in ticks in the upper 48 bits. The
 * operands follow. Each operand is a word with 0 in its lowest bit and the value in the upper 63 bits.
 *
 * Tasks, parallel regions and implicit tasks have numbers. The n-th of these that a thread makes (n = 1, 2, ...) has
 * the number (number of the thread + 1) << 40 | n, which its event does not store. Names that begin with ompt_ are of
 * OpenMP's tools interface. numasim/runtime/record/event_files.py reads the files. */
#pragma once

#include <stdint.h>

#define NS_EVENT_MAGIC UINT64_C(0x31304345524d534e) /* the bytes NSMREC01 */
enum { NS_HEADER_WORDS = 8 };                       /* magic, thread, ticks and ns at the start, then 4 words of 0 */
enum { NS_THREAD_SHIFT = 40 };
enum { NS_STACK = 1024 }; /* most interrupted tasks of NS_EVENT_RETURN; with more, all are forgotten */

enum ns_event_kind {
    NS_EVENT_CREATE = 1,    /* a task is made; argument: NS_TASK_ flags; operand: the address in the program */
    NS_EVENT_BEGIN_NEW = 2, /* the thread begins the task made last; argument: 1 if at once, as with `if(0)` */
    NS_EVENT_BEGIN = 3,     /* a task begins or resumes; argument: ompt_task_status_t of the task before; operand:
                               the task */
    NS_EVENT_RETURN = 4,    /* a task has ended, and the task that the ended task interrupted resumes */
    NS_EVENT_SWITCH = 5,    /* a task has ended or is put off; argument: its ompt_task_status_t; operand: the
                               resumed task, or 0 */
    NS_EVENT_SYNC = 6,      /* a barrier, taskwait or taskgroup begins or ends; argument: ompt_sync_region_t << 2 |
                               ompt_scope_endpoint_t */
    NS_EVENT_SYNC_WAIT = 7, /* the waiting part of a taskgroup begins or ends; argument: as for NS_EVENT_SYNC */
    NS_EVENT_PARALLEL = 8,  /* a parallel region begins; operands: threads asked for, the address in the program */
    NS_EVENT_PARALLEL_END = 9,
    NS_EVENT_IMPLICIT = 10, /* an implicit task begins; argument: 1 if initial; operands: region, number, team */
    NS_EVENT_IMPLICIT_END = 11,
    NS_EVENT_DEPENDENCES = 12, /* dependences of the task made last; argument: their number, at most 255; operands:
                                  address << 6 | type */
    NS_EVENT_WORK = 13,        /* a worksharing construct begins or ends; argument: ompt_work_t << 2 |
                                  ompt_scope_endpoint_t; operand: the address in the program */
    NS_EVENT_MASKED = 14,      /* a masked region begins or ends; argument: ompt_scope_endpoint_t */
    NS_EVENT_MUTEX = 15,       /* the thread gets a lock (a nested lock: for the first time), or enters a critical,
                                  atomic or ordered region; argument: the kind, a value of ompt_mutex_t */
    NS_EVENT_CANCEL = 16,      /* a cancellation */
    NS_EVENT_TARGET = 17,      /* an offload to a device */
    NS_EVENT_ACCESS = 18,      /* a declared access; argument: 1 read, 2 write, 3 both; operands: address, bytes, rows,
                                  stride */
    NS_EVENT_ALLOCATE = 19,    /* memory is allocated; operands: address, bytes */
    NS_EVENT_RELEASE = 20,     /* memory is released; operand: address */
    NS_EVENT_TOUCHED = 21,     /* a parallel region begins; argument: how many of 16 sampled pages of a large block
                                  exist; operand: address of the block */
    NS_EVENT_PAUSE = 22,       /* the recorder itself works from this time on; operand: the length in ticks */
    NS_EVENT_END = 23,         /* the recording is complete; operand: ns */
    NS_EVENT_START = 24,       /* the program begins: all earlier events belong to the start of the process */
    NS_EVENT_ACQUIRE = 25,  /* the thread begins to wait for a lock that is not nested, for a critical region or for an
                               ordered region; argument: kind, as for NS_EVENT_MUTEX */
    NS_EVENT_CHUNK = 26,    /* the thread begins a chunk of a loop; operand: the number of iterations */
    NS_EVENT_TEAM = 27,     /* the program asks how many threads the team has */
    NS_EVENT_AWAY = 28,     /* the thread was without a processor; argument: 1 if the thread gave it up; operands:
                               ns up to a moment after the event, ticks from the event to this moment */
    NS_EVENT_CLAUSE = 29,   /* a task or taskloop has a clause; argument: NS_CLAUSE_ */
    NS_EVENT_TOGETHER = 30, /* the turns of a team end, because the threads of the team wait for each other */
    NS_EVENT_GLOBAL = 31,   /* a variable exists; argument: number of operands: address, bytes, its name with 7 bytes
                               in each */
};

enum {
    NS_TASK_UNTIED = 2,
    NS_TASK_FINAL = 4,
    NS_TASK_TASKWAIT = 32, /* the waiting part of a taskwait with dependences */
    NS_TASK_TARGET = 64,
};

enum {
    NS_CLAUSE_PRIORITY = 1,
    NS_CLAUSE_AFFINITY = 2,
};
