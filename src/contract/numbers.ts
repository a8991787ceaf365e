/** The grammar of a JSON number (RFC 8259 section 6), as a sticky pattern that never backtracks. */
export const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;

const PARTS = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;
const INTEGER = /^-?(?:0|[1-9][0-9]*)$/;

export const isInteger = (text: string): boolean => INTEGER.test(text);

export function isNumber(text: string): boolean {
  NUMBER.lastIndex = 0;
  return NUMBER.test(text) && NUMBER.lastIndex === text.length;
}

/**
 * The exact value of a JSON number: an integer outside the safe range is a bigint, everything else a number, so that
 * one mathematical integer has one form. `1.0` and `1e2` are the integers 1 and 100, as JSON Schema says. Answers
 * `undefined` if no 64-bit float is near enough: the number overflows (`1e999`), or it is no integer but its float
 * would be one (`9007199254740993.5`).
 */
export function exact(text: string): number | bigint | undefined {
  const value = Number(text);
  if (!Number.isInteger(value)) return Number.isFinite(value) ? value : undefined;
  if (Number.isSafeInteger(value) && INTEGER.test(text)) return value;
  const integer = integerOf(text);
  if (integer === undefined) return undefined;
  return Number.isSafeInteger(Number(integer)) ? Number(integer) : integer;
}

/** The integer of a finite decimal text; `undefined` if it has a fraction. */
function integerOf(text: string): bigint | undefined {
  const { sign, digits, exponent } = decimal(text);
  if (digits === '') return 0n;
  if (exponent < 0) return undefined;
  return BigInt(`${sign}${digits}${'0'.repeat(exponent)}`);
}

/** Sign, digits without zeros at either end ('' for zero), power of ten: -12.50 is '-', '125', -1. */
function decimal(text: string): { sign: string; digits: string; exponent: number } {
  const [, sign = '', whole = '', fraction = '', power = '0'] = PARTS.exec(text) ?? [];
  const all = whole + fraction;
  let start = 0;
  let end = all.length;
  while (start < end && all.charCodeAt(start) === 48) start++;
  while (end > start && all.charCodeAt(end - 1) === 48) end--;
  return { sign, digits: all.slice(start, end), exponent: Number(power) - fraction.length + all.length - end };
}

/** Whether `value` is a whole multiple of `step` in decimal digits: 0.07 is a multiple of 0.01. */
export function isMultiple(value: number | bigint, step: number | bigint): boolean {
  if (typeof value === 'number' && typeof step === 'number' && Number.isInteger(value) && Number.isInteger(step)) {
    return value % step === 0;
  }
  const a = decimal(String(value));
  const b = decimal(String(step));
  if (a.digits === '') return true;
  const low = Math.min(a.exponent, b.exponent);
  return (
    (BigInt(a.digits) * 10n ** BigInt(a.exponent - low)) % (BigInt(b.digits) * 10n ** BigInt(b.exponent - low)) === 0n
  );
}

/** The ranges of the number formats (OpenAPI 3.0.3, data types). A float or double must only be finite in its width. */
export const RANGES: Readonly<
  Record<string, { readonly integer: boolean; readonly least: number | bigint; readonly most: number | bigint }>
> = {
  int32: { integer: true, least: -(2 ** 31), most: 2 ** 31 - 1 },
  int64: { integer: true, least: -(2n ** 63n), most: 2n ** 63n - 1n },
  float: { integer: false, least: -3.4028234663852886e38, most: 3.4028234663852886e38 },
  double: { integer: false, least: -Number.MAX_VALUE, most: Number.MAX_VALUE },
};
