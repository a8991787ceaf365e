import type { Comparison, Result } from './comparison.ts';
import { PACE } from './latency.ts';
import { type Mark, marks } from './marks.ts';
import { keptApart } from './processors.ts';
import type { Spread } from './statistics.ts';
import { units } from './targets/all.ts';
import { type Work, works } from './work.ts';

export function toResults(comparison: Comparison): string {
  const parts = [
    conditions(comparison),
    ...works.flatMap((work) => shortTable(comparison, work)),
    latencyTable(comparison),
    subjectFigures(comparison),
    markTable(comparison),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

export function toMarkdown(comparison: Comparison): string {
  const parts = [
    conditions(comparison),
    ...works.flatMap((work) => cpuTable(comparison, work)),
    beforeTable(comparison),
    latencyTable(comparison),
    subjectFigures(comparison),
    markTable(comparison),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function conditions({ machine, rounds, seconds, connections, skipped }: Comparison): string {
  const { processor, cores, memoryGiB, system, date, loadBefore } = machine;
  const versions = Object.entries(machine.versions).map(([name, version]) => `${name} ${version}`);
  return [
    `${date}: ${processor}, ${cores} cores, ${memoryGiB} GiB; ${system}; load before the run ${loadBefore}.`,
    `One proxy at a time beside nginx, ${rounds} interleaved rounds of ${seconds} s, ${connections} connections.`,
    keptApart
      ? 'Each proxy had a core of its own; load generator, backend and Redis had the rest.'
      : 'Load generator, proxy, backend and Redis shared the cores.',
    'CPU is microseconds of the proxy per request; × compares with nginx in the same run.',
    '',
    `Versions: ${versions.join(', ')}.`,
    ...skipped.flatMap(({ name, reason }) => ['', `Not measured: ${name}, ${reason}.`]),
  ].join('\n');
}

function cpuTable({ results }: Comparison, work: Work): string[] {
  const rows = results.filter((result) => result.work === work.name);
  if (rows.length === 0) return [];
  const unit = unitOf(results, work.name);
  const header = ['', 'CPU µs: median', 'min', 'max', '×', 'Redis µs', 'Redis trips', 'requests/s'];
  return [
    `### ${work.title}`,
    table(
      header,
      rows.map((row) => cpuRow(row, unit)),
    ),
  ];
}

/** Medians, with the range of the rounds. */
function shortTable({ results }: Comparison, work: Work): string[] {
  const rows = results.filter((result) => result.work === work.name);
  if (rows.length === 0) return [];
  const unit = unitOf(results, work.name);
  const cells = rows.map(({ title, cpu, redisCpu }) => [
    title,
    cpu.median.toFixed(1),
    `${cpu.min.toFixed(1)}–${cpu.max.toFixed(1)}`,
    unit === null ? '' : (cpu.median / unit).toFixed(2),
    redisCpu.max > 0 ? redisCpu.median.toFixed(1) : '',
  ]);
  return [`### ${work.title}`, table(['', 'CPU µs', 'range', '×', 'Redis µs'], cells)];
}

/** CPU as a multiple of the commit's, per round. */
function beforeTable({ results }: Comparison): string {
  const rows = results.flatMap((now) => {
    const then = results.find(
      ({ target, work }) => work === now.work && target.startsWith(`${now.target}@`),
    );
    return then
      ? [[`${now.title}, ${now.work}`, ...cells(then.cpu), ...cells(now.cpu), ratio(now, then)]]
      : [];
  });
  if (rows.length === 0) return '';
  const header = [
    '',
    'before µs: median',
    'min',
    'max',
    'now µs: median',
    'min',
    'max',
    'now / before',
  ];
  return `### Beside the commit before\n\n${table(header, rows)}`;
}

function ratio(now: Result, then: Result): string {
  return (now.cpu.median / then.cpu.median).toFixed(2);
}

function cpuRow(row: Result, unit: number | null): string[] {
  const usesRedis = row.redisCpu.max > 0 || row.decisions > 0;
  return [
    row.title,
    ...cells(row.cpu),
    unit === null ? '' : (row.cpu.median / unit).toFixed(2),
    usesRedis ? row.redisCpu.median.toFixed(1) : '',
    usesRedis ? row.decisions.toFixed(2) : '',
    String(Math.round(row.requestsPerSecond.median)),
  ];
}

/** That of its bare proxy, or of its own 429 for refusals. */
export function unitOf(results: readonly Result[], work: Work['name']): number | null {
  const row =
    results.find(
      (result) => result.work === work && units.some(({ name }) => name === result.target),
    ) ?? results.find((result) => work === 'unknown' && result.target === 'nginx-limit');
  return row?.cpu.median ?? null;
}

function latencyTable({ latencies }: Comparison): string {
  if (latencies.length === 0) return '';
  const rows = latencies.map(({ target, p50, p99, addedP50, addedP99 }) =>
    [target, p50, p99, addedP50, addedP99].map((cell) =>
      typeof cell === 'number' ? cell.toFixed(2) : cell,
    ),
  );
  const header = ['', 'p50 ms', 'p99 ms', 'added p50', 'added p99'];
  return `### Latency at ${PACE} evenly paced GETs a second\n\n${table(header, rows)}`;
}

function subjectFigures({ subjects }: Comparison): string {
  if (subjects === null) return '';
  const { bytesPerSubject, keptAfterLeaving, admissionOfFew, admissionOfMany } = subjects;
  return [
    '### A million subjects',
    '',
    'In the embedded state, without HTTP:',
    `${bytesPerSubject.toFixed(0)} bytes per active subject, ${(keptAfterLeaving * 100).toFixed(0)} % of them held after all windows ended.`,
    `One admission takes ${admissionOfFew.toFixed(2)} µs among a thousand subjects, ${admissionOfMany.toFixed(2)} µs among a million.`,
  ].join('\n');
}

function markTable(comparison: Comparison): string {
  const rows: string[][] = [];
  const missing: string[] = [];
  for (const mark of marks(comparison)) {
    const { title, unit, atMost, aim, measured } = mark;
    if (measured === null) missing.push(`${title} (${unit})`);
    else
      rows.push([
        title,
        unit,
        shown(atMost),
        aim === null ? '' : shown(aim),
        shown(measured),
        verdict(mark, measured),
      ]);
  }
  if (rows.length === 0) return '';
  const text = `### Limits\n\n${table(['', 'unit', 'at most', 'aim', 'measured', ''], rows)}`;
  return !comparison.whole || missing.length === 0
    ? text
    : `${text}\n\nNot measured: ${missing.join('; ')}.`;
}

function verdict({ atMost, aim }: Mark, measured: number): string {
  if (measured > atMost) return '**not met**';
  return aim !== null && measured <= aim ? 'met, aim too' : 'met';
}

function shown(value: number): string {
  return String(Number(value.toFixed(3)));
}

function cells({ median, min, max }: Spread): string[] {
  return [median, min, max].map((value) => value.toFixed(1));
}

/** All columns except the first two are figures. */
function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((cell, i) =>
    Math.max(3, cell.length, ...rows.map((row) => row[i]!.length)),
  );
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join(' | ')} |`;
  const rule = `| ${widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return [line(header), rule, ...rows.map(line)].join('\n');
}
