import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

interface Result {
  readonly work: string;
  readonly target: string;
  readonly cpu: { readonly median: number };
  readonly redisCpu: { readonly median: number };
}

/** `npm run bench` writes the comparison; the other measurements are written by hand. */
export interface Results {
  readonly comparison: {
    readonly machine: { readonly date: string; readonly versions: { readonly node: string } };
    readonly connections: number;
    readonly results: readonly Result[];
    readonly latencies: readonly (Readonly<Record<string, number>> & { readonly target: string })[];
    readonly subjects: { readonly bytesPerSubject: number };
  };
  readonly measurements: Readonly<Record<string, Readonly<Record<string, number | string>>>>;
}

export function readResults(): Results {
  return JSON.parse(readFileSync(resolve(import.meta.dirname, '../../bench/results.json'), 'utf8'));
}

/** Figures of a target that was measured without a line of the log per request only. */
const [SILENT, NOTE] = ['-silent', ' \\*'];

/** CPU is microseconds per request, a latency milliseconds. */
function figuresOf({ comparison, measurements }: Results): ReadonlyMap<string, string> {
  const { machine, connections, results, latencies, subjects } = comparison;
  const own = Object.entries(measurements).flatMap(([section, values]) =>
    Object.entries(values).map(([name, value]) => [`${section}.${name}`, `${value}`] as const),
  );
  const costs = results.flatMap(({ work, target, cpu, redisCpu }) => {
    const of = (name: string) => results.find((one) => one.work === work && one.target === name);
    const logged = target.replace(SILENT, '');
    const isNoted = logged !== target && of(logged) === undefined;
    const name = `${work}.${isNoted ? logged : target}`;
    return [
      [name, cpu.median.toFixed(1) + (isNoted ? NOTE : '')],
      [`${name}.redis`, redisCpu.median.toFixed(1)],
      [`${name}.times`, (cpu.median / (of('nginx')?.cpu.median ?? Number.NaN)).toFixed(2)],
    ] as const;
  });
  const times = latencies.flatMap(({ target, ...percentiles }) =>
    Object.entries(percentiles).map(
      ([name, time]) => [`latency.${target}.${name}`, time.toFixed(2)] as const,
    ),
  );
  return new Map([
    ...own,
    ...costs,
    ...times,
    ['run.date', machine.date],
    ['run.node', machine.versions.node],
    ['run.connections', `${connections}`],
    ['subjects.bytes', subjects.bytesPerSubject.toFixed(0)],
  ]);
}

/**
 * A number and its name in `figuresOf`: `29.1<!-- get.storegate -->`. A form may stand before the
 * name, and a name that is subtracted after it: `41,000<!-- perSecond get.storegate -->`.
 */
const FIGURE = /[\d.,-]*(?: \\\*)?(<!-- (?:(\w+) )?([\w-]+\.[\w.-]+)(?: - ([\w.-]+))? -->)/g;

const FORMS: Readonly<Record<string, (value: number) => string>> = {
  perSecond,
  whole: (value) => value.toFixed(0),
  milliseconds: (microseconds) => (microseconds / 1_000).toFixed(1),
  gigabytesOfTenMillion: (bytes) => (bytes / 100).toFixed(1),
};

/** A page with the figures of bench/results.json; other text stays. Throws on an unknown name. */
export function withFigures(page: string, results = readResults()): string {
  const figures = figuresOf(results);
  const find = (name: string) => {
    const figure = figures.get(name);
    if (figure === undefined) throw new Error(`bench/results.json has no figure "${name}".`);
    return figure;
  };
  return page.replace(FIGURE, (_all, mark: string, form = '', name = '', less = '') => {
    const text = find(name);
    if (form === '' && less === '') return text + mark;
    const value = Number.parseFloat(text) - (less === '' ? 0 : Number.parseFloat(find(less)));
    const written = form === '' ? `${value}` : FORMS[form]?.(value);
    if (written === undefined) throw new Error(`There is no form "${form}" of a figure.`);
    return written + (text.endsWith(NOTE) ? NOTE : '') + mark;
  });
}

/**
 * Requests per second of a core that spends `micros` of CPU on each. Two digits, rounded down: a
 * capacity is never above the measurement.
 */
export function perSecond(micros: number): string {
  const exact = 1_000_000 / micros;
  const unit = 10 ** (Math.floor(Math.log10(exact)) - 1);
  return (Math.floor(exact / unit) * unit).toLocaleString('en-US');
}
