import type { Fault, Rule } from '../fault.ts';
import { NONE } from '../faults.ts';
import { escapeToken } from '../names.ts';
import type { Sent } from './collector.ts';
import type { Parameter } from './parameter.ts';
import { example } from './styles.ts';

/** `null`: the client did not send the parameter. */
export function checkParameter(parameter: Parameter, sent: Sent | null): readonly Fault[] {
  if (sent === null) return parameter.required ? [complaint(parameter, 'is required', 'required')] : NONE;
  if (sent === 'unused') return NONE;
  if ('complaint' in sent) {
    if (sent.complaint === 'repeated') return [complaint(parameter, 'is given more than once', 'repeated')];
    const limit = example(parameter);
    return [{ ...complaint(parameter, `must be written like ${limit}`, 'style'), limit }];
  }
  const faults = parameter.check(sent.pieces);
  if (faults.length === 0) return NONE;
  const name = `/${escapeToken(parameter.name)}`;
  return faults.map((fault) => ({ in: parameter.in, ...fault, pointer: name + fault.pointer }));
}

const complaint = ({ in: place, name }: Parameter, message: string, rule: Rule): Fault => ({
  in: place,
  pointer: `/${escapeToken(name)}`,
  message,
  rule,
});
