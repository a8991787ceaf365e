/** RFC 8259 section 6, as a sticky pattern that never backtracks. */
export const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;

const PARTS = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;
/** The largest n for which a float holds 10^n exactly. */
const EXACT_PLACES = 22;
const POWERS: bigint[] = [];
const INTEGER = /^-?(?:0|[1-9][0-9]*)$/;

export const isInteger = (text: string): boolean => INTEGER.test(text);

export function isNumber(text: string): boolean {
  NUMBER.lastIndex = 0;
  return NUMBER.test(text) && NUMBER.lastIndex === text.length;
}

/**
 * Integers outside the safe range are bigints, so each integer has one form; `1.0` is the integer
 * 1. Returns `undefined` if a float would overflow (`1e999`) or lose a fraction
 * (`9007199254740993.5`).
 */
export function exact(text: string): number | bigint | undefined {
  const value = Number(text);
  if (!Number.isInteger(value))
    return Number.isFinite(value) ? value : undefined;
  if (Number.isSafeInteger(value) && INTEGER.test(text)) return value;
  const integer = integerOf(text);
  if (integer === undefined) return undefined;
  return Number.isSafeInteger(Number(integer)) ? Number(integer) : integer;
}

function integerOf(text: string): bigint | undefined {
  const { sign, digits, exponent } = decimal(text);
  if (digits === '') return 0n;
  if (exponent < 0) return undefined;
  return BigInt(sign + digits) * power(exponent);
}

function power(n: number): bigint {
  POWERS[n] ??= 10n ** BigInt(n);
  return POWERS[n];
}

/** Digits without zeros at either end ('' for zero): -12.50 is '-', '125', -1. */
function decimal(text: string): {
  sign: string;
  digits: string;
  exponent: number;
} {
  const [, sign = '', whole = '', fraction = '', power = '0'] =
    PARTS.exec(text) ?? [];
  const all = whole + fraction;
  let start = 0;
  let end = all.length;
  while (start < end && all.charCodeAt(start) === 48) start++;
  while (end > start && all.charCodeAt(end - 1) === 48) end--;
  return {
    sign,
    digits: all.slice(start, end),
    exponent: Number(power) - fraction.length + all.length - end,
  };
}

/**
 * In decimal digits: 0.07 is a multiple of 0.01. The cost is bounded: 10^n is divisible by a step
 * of d digits if 10^4d is, for every n above 4d.
 */
export function multipleOf(
  step: number | bigint,
): (value: number | bigint) => boolean {
  if (typeof step === 'bigint' || Number.isInteger(step)) {
    const divisor = BigInt(step);
    return (value) =>
      typeof value === 'bigint'
        ? value % divisor === 0n
        : value % Number(step) === 0;
  }
  const { digits, exponent } = decimal(String(step));
  const places = -exponent;
  const scale = places <= EXACT_PLACES ? Number(`1e${places}`) : Number.NaN;
  const divisor = BigInt(digits);
  const isDivided = (value: bigint, zeros: number) =>
    ((value % divisor) * power(Math.min(zeros, 4 * digits.length))) %
      divisor ===
    0n;
  return (value) => {
    if (typeof value === 'bigint') return isDivided(value, places);
    const scaled = Math.round(value * scale);
    // A decimal of up to 15 digits has a float of its own.
    if (Math.abs(scaled) < 1e15)
      return scaled / scale === value && scaled % Number(divisor) === 0;
    if (Number.isInteger(value)) return isDivided(BigInt(value), places);
    const own = decimal(String(value));
    return (
      own.exponent >= exponent &&
      isDivided(BigInt(own.digits), own.exponent - exponent)
    );
  };
}

/** OpenAPI 3.0.3, data types. A float or double must only be finite in its width. */
export const RANGES: Readonly<
  Record<
    string,
    {
      readonly integer: boolean;
      readonly least: number | bigint;
      readonly most: number | bigint;
    }
  >
> = {
  int32: { integer: true, least: -(2 ** 31), most: 2 ** 31 - 1 },
  int64: { integer: true, least: -(2n ** 63n), most: 2n ** 63n - 1n },
  float: {
    integer: false,
    least: -3.4028234663852886e38,
    most: 3.4028234663852886e38,
  },
  double: { integer: false, least: -Number.MAX_VALUE, most: Number.MAX_VALUE },
};
