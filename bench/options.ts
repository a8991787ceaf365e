import { parseArgs } from 'node:util';

/** `null`: a text, or nothing. */
type Values<T> = { readonly [Name in keyof T]: T[Name] extends null ? string | null : T[Name] };

/** By their defaults. Throws if an option is unknown, or a number is not whole and above 0. */
export function readOptions<T extends Readonly<Record<string, number | boolean | null>>>(
  initial: T,
  args = process.argv.slice(2),
): Values<T> {
  const options = Object.entries(initial).map(([name, value]) => {
    const type = typeof value === 'boolean' ? ('boolean' as const) : ('string' as const);
    return [name, { type }] as const;
  });
  const { values } = parseArgs({ args, options: Object.fromEntries(options) });
  const given = Object.entries(values).map(([name, value]) => {
    if (typeof initial[name] !== 'number') return [name, value];
    if (/^[1-9][0-9]{0,8}$/.test(`${value}`)) return [name, Number(value)];
    throw new Error(`--${name}: "${value}" is not a whole number above 0`);
  });
  return { ...initial, ...Object.fromEntries(given) };
}
