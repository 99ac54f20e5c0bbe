/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TRACE_MERGE_H
#define TRACE_MERGE_H

/* trace_merge makes the report of the parts of `file`: file.json, file.html, and the lines on stderr. Then it removes
 * the parts, unless `keep`, or something is missing. Returns 0, or -1 after a message. */
int trace_merge(const char *file, int keep);

#endif
