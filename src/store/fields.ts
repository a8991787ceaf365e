import { type Check, Unfit } from './checks.ts';
import { type Fault, invalidRequest } from './errors.ts';

/** The fields that one part of a request may have. Other fields are ignored. */
export type Shape = Readonly<Record<string, Field<unknown>>>;
export type Values<S extends Shape> = { readonly [Name in keyof S]: S[Name] extends Field<infer T> ? T : never };

export interface Field<T> {
  readonly required: boolean;
  readonly check: Check<T>;
}

export function required<T>(check: Check<T>): Field<T> {
  return { required: true, check };
}

export function optional<T>(check: Check<T>): Field<T | undefined> {
  return { required: false, check };
}

/**
 * Reads the fields of a body, a query or a path, and looks for every fault before it refuses.
 * @throws StoreError `invalid_request` with one fault for each field that does not fit.
 */
export function readFields<S extends Shape>(place: Fault['in'], source: unknown, shape: S): Values<S> {
  if (!isObject(source)) throw invalidRequest([{ in: place, pointer: '', message: 'must be an object' }]);
  const faults: Fault[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(shape)) {
    try {
      values[name] = readField(Object.hasOwn(source, name) ? source[name] : undefined, field);
    } catch (error) {
      if (!(error instanceof Unfit)) throw error;
      faults.push({ in: place, pointer: `/${name}`, message: error.message });
    }
  }
  if (faults.length > 0) throw invalidRequest(faults);
  return values as Values<S>;
}

/** Reads the parameters of a query. A parameter given twice is a fault, because either value could be meant. */
export function readQuery<S extends Shape>(query: URLSearchParams, shape: S): Values<S> {
  const repeated = Object.keys(shape).filter((name) => query.getAll(name).length > 1);
  if (repeated.length > 0)
    throw invalidRequest(
      repeated.map((name) => ({ in: 'query', pointer: `/${name}`, message: 'must be given only once' })),
    );
  return readFields('query', Object.fromEntries(query), shape);
}

function readField(value: unknown, field: Field<unknown>): unknown {
  if (value !== undefined) return field.check(value);
  if (field.required) throw new Unfit('is required');
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
