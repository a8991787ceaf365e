import { readdirSync, readFileSync } from 'node:fs';

/** Linux reports CPU time in ticks of 10 ms on every architecture (USER_HZ). */
const MICROSECONDS_PER_TICK = 10_000;

/** Microseconds, user and system, with all descendants. */
export function cpuTime(pid: number): number {
  return family(pid).reduce((sum, member) => sum + ticks(member), 0) * MICROSECONDS_PER_TICK;
}

/** Bytes, with all descendants. */
export function residentMemory(pid: number): number {
  return family(pid).reduce((sum, member) => sum + resident(member), 0);
}

/** Bytes, with all descendants; processes share the cost of shared pages. */
export function proportionalMemory(pid: number): number {
  return family(pid).reduce((sum, member) => sum + field(member, 'smaps_rollup', 'Pss') * 1024, 0);
}

/** How often a thread of this process or of a descendant waited, and its nanoseconds of CPU. */
export function wakeUps(pid: number): { readonly times: number; readonly nanoseconds: number } {
  const threads = family(pid).flatMap((member) =>
    readdirSync(`/proc/${member}/task`).map((thread) => `${member}/task/${thread}`),
  );
  return {
    times: threads.reduce(
      (sum, thread) => sum + field(thread, 'status', 'voluntary_ctxt_switches'),
      0,
    ),
    nanoseconds: threads.reduce(
      (sum, thread) =>
        sum + Number(readFileSync(`/proc/${thread}/schedstat`, 'utf8').split(' ')[0]),
      0,
    ),
  };
}

export function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')
      .split(' ')
      .filter(Boolean)
      .map(Number),
  );
}

function family(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(family)];
}

/**
 * utime and stime are fields 14 and 15 of proc(5) stat; the name before them may hold spaces and
 * parentheses.
 */
function ticks(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

function resident(pid: number): number {
  return field(pid, 'status', 'VmRSS') * 1024;
}

function field(of: number | string, file: string, name: string): number {
  return Number(
    new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${of}/${file}`, 'utf8'))![1],
  );
}
