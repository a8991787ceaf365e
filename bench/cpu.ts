import { readdirSync, readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Linux reports CPU time in ticks of 10 ms on every architecture (USER_HZ). */
const MICROSECONDS_PER_TICK = 10_000;

/** Microseconds, such as those of `process.cpuUsage(before)`. */
export function total({ user, system }: NodeJS.CpuUsage): number {
  return user + system;
}

/** Microseconds, user and system, with all descendants: fields 14 and 15 of proc(5) stat. */
export function cpuTime(pid: number): number {
  return sum(family(pid), (member) => ticks(member, 14)) * MICROSECONDS_PER_TICK;
}

/** Microseconds of all children of this process that have ended: fields 16 and 17. */
export function endedChildren(): number {
  return ticks(process.pid, 16) * MICROSECONDS_PER_TICK;
}

/** Bytes, with all descendants. */
export function residentMemory(pid: number): number {
  return sum(family(pid), (member) => field(member, 'status', 'VmRSS')) * 1024;
}

/** Bytes, with all descendants; processes share the cost of shared pages. */
export function proportionalMemory(pid: number): number {
  return sum(family(pid), (member) => field(member, 'smaps_rollup', 'Pss')) * 1024;
}

/** How often a thread of this process or of a descendant waited, and its nanoseconds of CPU. */
export function wakeUps(pid: number): { readonly times: number; readonly nanoseconds: number } {
  const threads = family(pid).flatMap((member) =>
    readdirSync(`/proc/${member}/task`).map((thread) => `${member}/task/${thread}`),
  );
  return {
    times: sum(threads, (thread) => field(thread, 'status', 'voluntary_ctxt_switches')),
    nanoseconds: sum(threads, (thread) => Number(read(thread, 'schedstat').split(' ')[0])),
  };
}

/** Bytes of this process in use after garbage collection. */
export function heldMemory(): number {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function family(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    read(`${pid}/task/${thread}`, 'children').split(' ').filter(Boolean).map(Number),
  );
  return [pid, ...children.flatMap(family)];
}

function sum<T>(all: readonly T[], figure: (one: T) => number): number {
  return all.reduce((sum, one) => sum + figure(one), 0);
}

/** The sum of two fields of proc(5) stat; the name before them may hold spaces and parentheses. */
function ticks(pid: number, first: number): number {
  const stat = read(pid, 'stat');
  // The field after the name is the third.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[first - 3]) + Number(fields[first - 2]);
}

function field(of: number | string, file: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(read(of, file))![1]);
}

function read(of: number | string, file: string): string {
  return readFileSync(`/proc/${of}/${file}`, 'utf8');
}
