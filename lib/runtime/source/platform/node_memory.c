/* Binding of threads to processors and of memory to nodes, by system calls, without a library. */
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "numasim/runtime.h"
#include "platform/near_memory.h"
#include "platform/processor_set.h"

enum { BIND = 2, OF_ADDRESS = 3 }; /* MPOL_BIND; MPOL_F_NODE | MPOL_F_ADDR */

int ns_cpu_pin(uint32_t cpu) {
    cpu_set_t *mask = CPU_ALLOC(NS_SET_BITS);
    const size_t size = CPU_ALLOC_SIZE(NS_SET_BITS);
    if (!mask || cpu >= NS_SET_BITS) {
        CPU_FREE(mask);
        return NS_ERROR_THREAD;
    }
    CPU_ZERO_S(size, mask);
    CPU_SET_S(cpu, size, mask);
    const int failed = sched_setaffinity(0, size, mask);
    CPU_FREE(mask);
    return failed ? NS_ERROR_THREAD : NS_OK;
}

int ns_node_allocate(void **memory, uint32_t node, size_t bytes) {
    ns_set nodes = {0};
    if (!memory || !bytes) return NS_ERROR_OPTION;
    *memory = NULL;
    void *made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) return NS_ERROR_MEMORY;
    *memory = made;
    if (node >= NS_SET_BITS) return NS_ERROR_UNSUPPORTED;
    ns_set_add(&nodes, node);
    /* The kernel reads one bit less than this number: NS_SET_BITS leaves out the last node, which no system has. */
    return syscall(SYS_mbind, made, bytes, BIND, nodes.word, (unsigned long)NS_SET_BITS, 0) ? NS_ERROR_UNSUPPORTED
                                                                                            : NS_OK;
}

void ns_node_release(void *memory, size_t bytes) {
    if (memory && bytes) munmap(memory, bytes);
}

int64_t ns_node_of_page(const void *address) {
    int node = -1;
    if (syscall(SYS_get_mempolicy, &node, NULL, 0UL, address, (unsigned long)OF_ADDRESS)) return NS_ERROR_UNSUPPORTED;
    return node;
}

void *ns_near_memory_allocate(size_t bytes, int32_t node) {
    void *memory = NULL;
    /* A missing node is no error: each page is then on the node of the thread that touches it first. */
    ns_node_allocate(&memory, node < 0 ? UINT32_MAX : (uint32_t)node, bytes);
    return memory;
}

void ns_near_memory_free(void *memory, size_t bytes) { ns_node_release(memory, bytes); }
