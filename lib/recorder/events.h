/* The file of events that the recorder writes, of each thread its own: words of 64 bits in the order of the machine.
 *
 * After the NS_HEADER_WORDS words of the header comes a sequence of events. An event is a word whose lowest bit is 1,
 * with its kind in bits 1 to 7, a small argument in bits 8 to 15 and its time in ticks in the 48 bits above, and then
 * as many operands as its kind has: words whose lowest bit is 0, with the operand in the 63 bits above.
 *
 * Tasks, parallel regions and implicit tasks have numbers: (number of the thread + 1) << 40 | n for the n-th of them
 * that the thread made, from 1 on. Events that make one do not say its number. numasim/runtime/record/event_files.py
 * reads the file.
 */
#ifndef NUMASIM_RECORD_EVENTS_H
#define NUMASIM_RECORD_EVENTS_H

#include <stdint.h>

#define NS_EVENT_MAGIC UINT64_C(0x31304345524d534e) /* the bytes NSMREC01 */
enum { NS_HEADER_WORDS = 8 };                       /* magic, thread, ticks and ns at the start, 4 of 0 */
enum { NS_THREAD_SHIFT = 40 };
enum { NS_STACK = 1024 }; /* scheduled tasks that NS_EVENT_RETURN may go back to; one more, and they are forgotten */

enum ns_event_kind {
    NS_EVENT_CREATE = 1,    /* a task is made: NS_TASK_ flags; operand: where in the program */
    NS_EVENT_BEGIN_NEW = 2, /* the task that this thread made last is begun; 1 where the program executes it in place */
    NS_EVENT_BEGIN = 3,     /* a task is begun or gone on with: status of the one before; operand: the task */
    NS_EVENT_RETURN = 4,    /* a task has ended, and the one goes on during which it was begun */
    NS_EVENT_SWITCH = 5,    /* a task has ended, or is put off: its status; operand: the task that goes on, or 0 */
    NS_EVENT_SYNC = 6,      /* kind of synchronisation << 2 | endpoint */
    NS_EVENT_SYNC_WAIT = 7, /* likewise, of the waiting in it; of taskgroups alone */
    NS_EVENT_PARALLEL = 8,  /* a parallel region begins; operands: threads asked for, where in the program */
    NS_EVENT_PARALLEL_END = 9,
    NS_EVENT_IMPLICIT = 10, /* an implicit task begins; 1: the initial one; operands: region, number, team */
    NS_EVENT_IMPLICIT_END = 11,
    NS_EVENT_DEPENDENCES = 12, /* of the task made last: how many, at most 255; operands: address << 6 | type of each */
    NS_EVENT_WORK = 13,        /* kind of work << 2 | endpoint; operand: where in the program */
    NS_EVENT_MASKED = 14,      /* endpoint */
    NS_EVENT_MUTEX = 15,       /* a lock, critical or ordered region has been entered: its kind */
    NS_EVENT_CANCEL = 16,      /* a cancellation */
    NS_EVENT_TARGET = 17,      /* an offload to a device */
    NS_EVENT_ACCESS = 18,      /* a declared access: 1 read, 2 write, 3 both; operands: address, bytes, rows, stride */
    NS_EVENT_ALLOCATE = 19,    /* memory is allocated; operands: address, bytes */
    NS_EVENT_RELEASE = 20,     /* memory is released; operand: address */
    NS_EVENT_TOUCHED = 21,     /* of 16 pages of a block at the begin of a region, how many exist; operand: address */
    NS_EVENT_PAUSE = 22,       /* the recorder itself worked from here on; operand: ticks */
    NS_EVENT_END = 23,         /* the recording is complete; operand: ns */
    NS_EVENT_START = 24,       /* the program begins: all that was before is not its own */
    NS_EVENT_ACQUIRE = 25,     /* the thread waits until it may enter a lock, critical or ordered region: its kind */
    NS_EVENT_CHUNK = 26,       /* iterations of a loop are begun, which the thread was given; operand: how many */
    NS_EVENT_TEAM = 27,        /* the program asks how many threads the team has */
    NS_EVENT_AWAY = 28,        /* the thread was without a processor; 1 where it waited itself; operands: ns up to some
                                  moment behind the event, ticks from the event to that moment */
    NS_EVENT_CLAUSE = 29,      /* a task or taskloop has a clause: NS_CLAUSE_ */
    NS_EVENT_TOGETHER = 30,    /* the turns of a team end: its threads wait for each other */
    NS_EVENT_GLOBAL = 31,      /* a variable exists; argument: operands: address, bytes, its name, 7 bytes in each */
};

enum {
    NS_TASK_UNTIED = 2,
    NS_TASK_FINAL = 4,
    NS_TASK_TASKWAIT = 32, /* the waiting of a taskwait with dependences */
    NS_TASK_TARGET = 64,
};

enum {
    NS_CLAUSE_PRIORITY = 1,
    NS_CLAUSE_AFFINITY = 2,
};

#endif
