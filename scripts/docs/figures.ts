import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** By name: a number, a date or a version, as pages write it. */
export type Figures = Readonly<Record<string, string>>;

export function readFigures(): Figures {
  return JSON.parse(readFileSync(resolve(import.meta.dirname, '../../bench/figures.json'), 'utf8'));
}

/**
 * A figure and its name: `29.1<!-- get.storegate -->`. A form may stand before the name, and a name
 * that is subtracted after it: `34,000<!-- perSecond get.storegate -->`.
 */
const FIGURE = /[\d.,-]*(<!-- (?:(\w+) )?([\w-]+\.[\w.-]+)(?: - ([\w.-]+))? -->)/g;

const FORMS: Readonly<Record<string, (value: number) => string>> = {
  perSecond,
  whole: (value) => value.toFixed(0),
  milliseconds: (microseconds) => (microseconds / 1_000).toFixed(1),
  gigabytesOfTenMillion: (bytes) => (bytes / 100).toFixed(1),
};

/** A page with its figures; other text stays. Throws on an unknown name. */
export function withFigures(page: string, figures = readFigures()): string {
  const find = (name: string) => {
    const figure = figures[name];
    if (figure === undefined) throw new Error(`bench/figures.json has no "${name}".`);
    return figure;
  };
  return page.replace(FIGURE, (_all, mark: string, form?: string, name = '', less?: string) => {
    const text = find(name);
    if (form === undefined && less === undefined) return text + mark;
    const value =
      Number.parseFloat(text) - (less === undefined ? 0 : Number.parseFloat(find(less)));
    const write = form === undefined ? String : FORMS[form];
    if (write === undefined) throw new Error(`Figures have no form "${form}".`);
    return write(value) + mark;
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
