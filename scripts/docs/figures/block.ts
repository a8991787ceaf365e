import type { Results } from '../results.ts';

/** The Markdown of each block of a page, without a line break at its end. */
export type Blocks = Readonly<Record<string, (results: Results) => string>>;

/** Sections that several pages cite. */
export const REPEATED = 'Repeated measurements';
export const SINGLE = 'Single measurements at b1eaf51d';
export const IN_REDIS = 'State in Redis';
export const RECORDS = 'Records in Redis';

/** Works and targets of the comparison, as bench/RESULTS.md calls them. */
export const GET = 'admitted GET';
export const POST = 'admitted POST, 200-byte JSON';
export const REFUSED = '429 or 403, known-refused key';
export const UNKNOWN = '401, unknown key';

export const NGINX = 'nginx proxy_pass';
export const EMBEDDED = 'storegate, embedded state';
export const REDIS = 'storegate, Redis state';
export const LUA = 'nginx + Lua + Redis';
export const EXPRESS = 'the usual Express stack';

/** Of a target that was not measured as shipped, with a line of the log per request. */
export const SILENT = ', no log';
export const NOTE = ' \\*';

/** The row of a work, as shipped if that was measured. */
export function rowOf(results: Results, work: string, target: string): string {
  return results.hasRow(work, target) ? target : `${target}${SILENT}`;
}

/** Explains NOTE if a text has it. */
export function explained(text: string): string {
  return text.includes(NOTE) ? `${text}\n\n\\* without a line of the log per request.` : text;
}

/** Microseconds of CPU per request. */
export function cpuOf(results: Results, work: string, target: string): number {
  return results.number(work, rowOf(results, work, target), 'CPU µs');
}

/** NOTE unless the target was measured as shipped. */
export function noteOf(results: Results, work: string, target: string): string {
  return rowOf(results, work, target) === target ? '' : NOTE;
}

/** Date and processor of the comparison, such as `2026-11-24, Intel(R) Xeon(R) Processor`. */
export function runOf(results: Results): string {
  return results.match('Comparison', /^(\d{4}-\d\d-\d\d): (.+?), \d+ cores/m).join(', ');
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
