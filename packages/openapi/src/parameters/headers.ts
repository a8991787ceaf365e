import type { Fault } from '../fault.ts';
import { NONE } from '../faults.ts';
import { checkParameter } from './check.ts';
import { Collector, type Sent } from './collector.ts';
import type { Parameter } from './parameter.ts';
import { takeApart } from './styles.ts';

export type CheckHeaders = (headers: readonly string[]) => readonly Fault[];

export function createHeaderCheck(parameters: readonly Parameter[]): CheckHeaders | null {
  if (parameters.length === 0) return null;
  const names = parameters.map(({ name }) => name.toLowerCase());
  return (headers) => {
    const faults: Fault[] = [];
    for (const [i, parameter] of parameters.entries())
      faults.push(...checkParameter(parameter, sent(parameter, valuesOf(headers, names[i]!))));
    return faults.length === 0 ? NONE : faults;
  };
}

/** Repeated headers form one list (RFC 9110 section 5.3) if the parameter may be a list, and are otherwise a fault. */
function sent(parameter: Parameter, values: readonly string[]): Sent | null {
  if (values.length === 0) return null;
  if (parameter.form === 'primitive') {
    return values.length > 1 ? { complaint: 'repeated' } : { pieces: { form: 'primitive', text: values[0]!.trim() } };
  }
  const list = values.flatMap((value) => value.split(',')).map((text) => text.trim());
  const pieces = takeApart(parameter, list.join());
  return pieces ? { pieces } : { complaint: 'style' };
}

/** Cookies that the contract does not describe are ignored. */
export function createCookieCheck(parameters: readonly Parameter[]): CheckHeaders | null {
  if (parameters.length === 0) return null;
  const collector = new Collector(parameters);
  const inParts = parameters.filter(({ form, explode }) => form !== 'primitive' && explode);
  const joined = new Set(
    inParts.flatMap(({ form, name, shape }) => (form === 'array' ? [name] : [...shape.members.keys()])),
  );
  return (headers) => {
    const pairs = valuesOf(headers, 'cookie')
      .flatMap((value) => value.split(';'))
      .map((cookie) => cookie.trim());
    const text = pairs
      .map((cookie) => (joined.has(cookie.split('=', 1)[0]!) ? cookie : cookie.replaceAll('&', '%26')))
      .join('&');
    const all = collector.collect(text, false, () => undefined);
    const faults = parameters.flatMap((parameter, i) => checkParameter(parameter, all[i]!));
    return faults.length === 0 ? NONE : faults;
  };
}

function valuesOf(headers: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const header = headers[i]!;
    if (header.length === name.length && header.toLowerCase() === name) values.push(headers[i + 1]!);
  }
  return values;
}
