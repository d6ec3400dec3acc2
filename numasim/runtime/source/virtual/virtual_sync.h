/* The synchronisation objects of a run in virtual time: out of its plan, into its report. */
#ifndef NS_VIRTUAL_SYNC_H
#define NS_VIRTUAL_SYNC_H

#include "field_reader.h"
#include "report.h"
#include "sync/objects.h"

/* Those of a plan: its fields word_role, word_home, worker_home, word_parties, lock_kind, ... as
 * numasim/engine/native.py names them. `transfers` and the plan live as long. 0, or NS_ERROR_FIELD with a sentence in
 * `plan`. */
int ns_virtual_sync_read(ns_sync_plan *self, ns_field_reader *plan, const ns_transfers *transfers);

/* Copy the counts of all of them to report->words. */
void ns_virtual_sync_report(const ns_sync *self, ns_report *report);

#endif
