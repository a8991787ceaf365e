import type { Contract } from '../../src/index.ts';
import type { Request } from './requests.ts';

export function faultsOf(
  contract: Contract,
  { method, target, headers, body }: Request,
): readonly string[] {
  const mark = target.indexOf('?');
  const [path, query] = mark < 0 ? [target, ''] : [target.slice(0, mark), target.slice(mark + 1)];
  const { operation, ...found } = contract.match(method, path);
  if (operation === null || !('parameters' in found)) return ['no such operation'];
  const faults = operation.checkParameters(found.parameters, query, headers);
  const texts = faults.map(
    ({ in: place, pointer, message, rule }) => `${rule}: ${place} ${pointer} ${message}`,
  );
  if (body === null) return operation.body?.required ? [...texts, 'required: body'] : texts;
  if (!operation.body) return [...texts, 'unexpected: body'];
  const media = operation.body.media(body.type);
  if (!media) return [...texts, `mediaType: ${body.type}`];
  const wrong = body.bytes.length > 0 ? media.check(body.bytes) : [];
  return [
    ...texts,
    ...wrong.map(({ pointer, message, rule }) => `${rule}: body ${pointer} ${message}`),
  ];
}
