import type { Fault } from '../../errors/fault.ts';
import { NONE } from '../faults.ts';
import { escapeToken } from '../names.ts';
import type { Sent } from './collector.ts';
import type { Parameter } from './parameter.ts';
import { example } from './styles.ts';

/** The faults in the text sent for a parameter; `null` means that the caller sent none. */
export function judge(parameter: Parameter, sent: Sent | null): readonly Fault[] {
  if (sent === null) return parameter.required ? [complaint(parameter, 'is required')] : NONE;
  if (sent === 'unused') return NONE;
  if ('complaint' in sent) {
    const message =
      sent.complaint === 'repeated' ? 'is given more than once' : `must be written like ${example(parameter)}`;
    return [complaint(parameter, message)];
  }
  const faults = parameter.check(sent.pieces);
  if (faults.length === 0) return NONE;
  const name = `/${escapeToken(parameter.name)}`;
  return faults.map(({ pointer, message }) => ({ in: parameter.in, pointer: name + pointer, message }));
}

const complaint = ({ in: place, name }: Parameter, message: string): Fault => ({
  in: place,
  pointer: `/${escapeToken(name)}`,
  message,
});
