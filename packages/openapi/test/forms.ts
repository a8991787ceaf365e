import type { ReadContract } from '../src/index.ts';
import { bodyChecker, type More, taking } from './documents.ts';

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

export const formContract = (schema: Json, encoding: Json = {}, more: More = {}): ReadContract =>
  taking({ 'multipart/form-data': { schema, encoding } }, more);

export const formChecker = (schema: Json, encoding: Json = {}, more: More = {}) =>
  bodyChecker(formContract(schema, encoding, more), TYPE);

/** As Node's own FormData writes it. */
export async function written(form: FormData): Promise<{ bytes: Uint8Array; type: string }> {
  const response = new Response(form);
  return {
    bytes: new Uint8Array(await response.arrayBuffer()),
    type: response.headers.get('content-type')!,
  };
}
