/* The times of segments that start by a plan: `segment_times PLAN [SEGMENT NODE MEASURED_PS]...`. Prints for each start
 * the time of the segment, the time if all bytes were local, and the time of faults and migrations; then the number of
 * page faults, and the bytes of each pair of nodes. MEASURED_PS is the measured compute time; -1: the plan's time. */
#include <stdio.h>
#include <stdlib.h>

#include "memory/pages.h"
#include "plan_file.h"

int main(int count, char **words) {
    ns_fields *fields;
    ns_plan_file file;
    ns_pages pages;
    if (ns_fields_read(&fields, words[1]) || ns_plan_file_read(&file, fields) || !ns_pages_create(&pages, &file.plan))
        return 2;
    for (int at = 2; at + 2 < count; at += 3) {
        const uint32_t segment = (uint32_t)atoi(words[at]);
        const ns_toucher toucher = {.node = atoi(words[at + 1])};
        const ns_segment_time time = ns_plan_file_start(&file, &pages, segment, toucher, atoll(words[at + 2]));
        printf("%lld %lld %lld ", (long long)time.total_ps, (long long)time.local_ps, (long long)time.owed_ps);
    }
    printf("%lld", (long long)pages.placed);
    for (uint32_t pair = 0; pair < file.plan.nodes * file.plan.nodes; pair++)
        printf(" %lld", (long long)pages.node_bytes[pair]);
    ns_pieces_release(&pages.memory);
    ns_plan_file_destroy(&file);
    ns_fields_destroy(fields);
    return 0;
}
