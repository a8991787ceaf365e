import type { Operation, Reading } from '../src/index.ts';
import { done, load, only, short } from './documents.ts';

type Json = Record<string, unknown>;

export const BOUNDARY = 'b0undary';
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

export const part = (headers: string, content: string): string =>
  `${headers.replaceAll('\n', '\r\n')}\r\n\r\n${content}`;

export const field = (name: string, content: string): string =>
  part(`Content-Disposition: form-data; name="${name}"`, content);

export const file = (
  name: string,
  content: string,
  type = 'application/octet-stream',
  filename = 'f',
): string =>
  part(
    `Content-Disposition: form-data; name="${name}"; filename="${filename}"\nContent-Type: ${type}`,
    content,
  );

export const body = (...parts: string[]): string =>
  `${parts.map((one) => `--${BOUNDARY}\r\n${one}\r\n`).join('')}--${BOUNDARY}--\r\n`;

export function formOperation(
  schema: Json,
  encoding: Json = {},
  schemas: Json = {},
  reading: Reading = {},
  openapi?: string,
): Operation {
  const content = { 'multipart/form-data': { schema, encoding } };
  return only(
    load(
      { '/': { post: { requestBody: { content }, responses: done } } },
      { schemas },
      reading,
      openapi,
    ),
  );
}

export function formChecker(
  schema: Json,
  encoding: Json = {},
  schemas: Json = {},
  reading: Reading = {},
  openapi?: string,
) {
  const rules = formOperation(schema, encoding, schemas, reading, openapi).body!;
  return (sent: string | Uint8Array, type = TYPE): string[] => {
    const rule = rules.media(type);
    return rule ? short(rule.check(typeof sent === 'string' ? Buffer.from(sent) : sent)) : ['415'];
  };
}

/** As Node's own FormData writes it. */
export async function written(form: FormData): Promise<{ bytes: Uint8Array; type: string }> {
  const response = new Response(form);
  return {
    bytes: new Uint8Array(await response.arrayBuffer()),
    type: response.headers.get('content-type')!,
  };
}
