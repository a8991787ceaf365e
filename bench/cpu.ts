import { readdirSync, readFileSync } from 'node:fs';

/** Linux reports CPU time in ticks of 10 ms on every architecture (USER_HZ). */
const MICROSECONDS_PER_TICK = 10_000;

/** Microseconds, user and system, with all descendants. */
export function cpuTime(pid: number): number {
  return family(pid).reduce((sum, member) => sum + ownCpuTime(member), 0);
}

/** Without descendants. */
export function ownCpuTime(pid: number): number {
  return ticks(pid) * MICROSECONDS_PER_TICK;
}

/** Bytes, with all descendants. */
export function residentMemory(pid: number): number {
  return family(pid).reduce((sum, member) => sum + resident(member), 0);
}

export function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
}

function family(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(family)];
}

/** utime and stime are fields 14 and 15 of proc(5) stat; the name before them may hold spaces and parentheses. */
function ticks(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

function resident(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!;
  return Number(kibibytes) * 1024;
}
