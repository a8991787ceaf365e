import type { Comparison, Result } from './comparison.ts';
import { PACE } from './latency.ts';
import { marks } from './marks.ts';
import { keptApart } from './processors.ts';
import type { Spread } from './statistics.ts';
import { units } from './targets/all.ts';
import { unitWork, type Work, works } from './work.ts';

export function toMarkdown(comparison: Comparison): string {
  const parts = [
    conditions(comparison),
    ...works.map(({ name, title }) => cpuTable(comparison, name, title)),
    beforeTable(comparison),
    latencyTable(comparison),
    subjectFigures(comparison),
    markTable(comparison),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

/** As pages name them. CPU is microseconds per request, a latency milliseconds. */
export function figuresOf(comparison: Comparison): Readonly<Record<string, string>> {
  const { machine, connections, results, latencies, subjects } = comparison;
  const costs = results.flatMap(({ work, target, cpu, redisCpu }) => {
    const unit = unitOf(results, work);
    return [
      [`${work}.${target}`, cpu.median.toFixed(1)],
      [`${work}.${target}.redis`, redisCpu.median.toFixed(1)],
      ...(unit === null ? [] : [[`${work}.${target}.times`, (cpu.median / unit).toFixed(2)]]),
    ];
  });
  const times = latencies.flatMap(({ target, ...percentiles }) =>
    Object.entries(percentiles).map(([name, time]) => [
      `latency.${target}.${name}`,
      time.toFixed(2),
    ]),
  );
  return {
    'run.date': machine.date,
    'run.node': machine.versions.node!,
    'run.connections': `${connections}`,
    ...Object.fromEntries([...costs, ...times]),
    'subjects.bytes': subjects!.bytesPerSubject.toFixed(0),
  };
}

function conditions({ machine, rounds, connections, skipped }: Comparison): string {
  const { processor, cores, memoryGiB, system, date, loadBefore } = machine;
  const versions = Object.entries(machine.versions).map(([name, version]) => `${name} ${version}`);
  const apart = keptApart
    ? 'Each proxy had a core of its own; load generator, backend and Redis had the rest.'
    : 'Load generator, proxy, backend and Redis shared the cores.';
  const missing = skipped.map(({ name, reason }) => `\n\nNot measured: ${name}, ${reason}.`);
  return `${date}: ${processor}, ${cores} cores, ${memoryGiB} GiB; ${system}; load before the run ${loadBefore}.
One proxy at a time beside nginx, ${rounds} interleaved rounds of 1 s, ${connections} connections.
${apart}
CPU is microseconds of the proxy per request; × compares with nginx in the same run.

Versions: ${versions.join(', ')}.${missing.join('')}`;
}

/** Medians, with the range of the rounds. */
function cpuTable({ results }: Comparison, work: Work['name'], title: string): string {
  const unit = unitOf(results, work);
  const rows = results
    .filter((result) => result.work === work)
    .map(({ title, cpu, redisCpu, decisions, requestsPerSecond }) => [
      title,
      ...cellsOf(cpu),
      unit === null ? '' : (cpu.median / unit).toFixed(2),
      redisCpu.max > 0 ? redisCpu.median.toFixed(1) : '',
      decisions > 0 ? decisions.toFixed(2) : '',
      requestsPerSecond.median.toFixed(0),
    ]);
  const head = ['', 'CPU µs', 'range', '×', 'Redis µs', 'Redis trips', 'requests/s'];
  return section(title, head, rows);
}

function beforeTable({ results }: Comparison): string {
  const rows = results.flatMap(({ title, target, work, cpu }) => {
    const before = results.find(
      (one) => one.work === work && one.target.startsWith(`${target}@`),
    )?.cpu;
    if (before === undefined) return [];
    const times = (cpu.median / before.median).toFixed(2);
    return [[`${title}, ${work}`, ...cellsOf(before), ...cellsOf(cpu), times]];
  });
  const head = ['', 'before µs', 'range', 'now µs', 'range', 'now / before'];
  return section('Beside the commit before', head, rows);
}

function cellsOf({ median, min, max }: Spread): string[] {
  return [median.toFixed(1), `${min.toFixed(1)}–${max.toFixed(1)}`];
}

/** That of its bare proxy, or of its own 429 for refusals. */
function unitOf(results: readonly Result[], work: Work['name']): number | null {
  const isUnit = ({ target }: Result) => units.some(({ name }) => name === target);
  return results.find((one) => one.work === unitWork(work) && isUnit(one))?.cpu.median ?? null;
}

function latencyTable({ latencies }: Comparison): string {
  const rows = latencies.map(({ target, ...times }) => [
    target,
    ...[times.p50, times.p99, times.addedP50, times.addedP99].map((time) => time.toFixed(2)),
  ]);
  const head = ['', 'p50 ms', 'p99 ms', 'added p50', 'added p99'];
  return section(`Latency at ${PACE} evenly paced GETs a second`, head, rows);
}

function subjectFigures({ subjects }: Comparison): string {
  if (subjects === null) return '';
  const { bytesPerSubject, keptAfterLeaving, admissionOfFew, admissionOfMany } = subjects;
  return `### A million subjects

In the embedded state, without HTTP:
${bytesPerSubject.toFixed(0)} bytes per active subject, ${(keptAfterLeaving * 100).toFixed(0)} % of them held after all windows ended.
One admission takes ${admissionOfFew.toFixed(2)} µs among a thousand subjects, ${admissionOfMany.toFixed(2)} µs among a million.`;
}

function markTable(comparison: Comparison): string {
  const rows = marks(comparison)
    .filter(([, , , , measured]) => !Number.isNaN(measured))
    .map(([title, unit, atMost, aim, measured]) => {
      const isGood = aim !== null && measured <= aim;
      const verdict = measured > atMost ? '**not met**' : `met${isGood ? ', aim too' : ''}`;
      return [title, unit, `${atMost}`, `${aim ?? ''}`, `${Number(measured.toFixed(3))}`, verdict];
    });
  return section('Limits', ['', 'unit', 'at most', 'aim', 'measured', ''], rows);
}

/** Empty without rows. All columns except the first are figures. */
function section(title: string, head: readonly string[], rows: readonly (readonly string[])[]) {
  if (rows.length === 0) return '';
  const widths = head.map((cell, i) =>
    Math.max(3, cell.length, ...rows.map((row) => row[i]!.length)),
  );
  const rule = widths.map((width, i) =>
    i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  const lines = [head, rule, ...rows].map((row) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))),
  );
  return `### ${title}\n\n${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}`;
}
