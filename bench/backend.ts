import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Children } from './children.ts';
import { startNginx } from './nginx.ts';
import { SIZED, SIZES } from './work.ts';

/** An nginx that is never the bottleneck. */
export interface Backend {
  readonly url: string;
  readonly port: number;
}

export const PETS = '[{"id":1,"name":"Minka","categoryId":1,"status":"available"}]';
export const CREATED = '{"id":1,"name":"Minka","categoryId":1,"status":"available"}';
/** It exposes a peer that drops bodies. */
export const BODY_LENGTH = 'x-body-length';

export async function startBackend(children: Children): Promise<Backend> {
  const sized = join(children.folder, 'sized');
  mkdirSync(sized, { recursive: true });
  for (const size of SIZES) writeFileSync(join(sized, String(size)), sizedReply(size));
  const { port } = await startNginx(children, {
    name: 'backend',
    place: 'beside',
    server: `add_header ${BODY_LENGTH} $content_length always;
    location / {
      if ($request_method = POST) { return 201 '${CREATED}'; }
      return 200 '${PETS}';
    }
    location ${SIZED} { alias ${sized}/; }`,
  });
  return { url: `http://127.0.0.1:${port}`, port };
}

export function sizedReply(bytes: number): string {
  const reply = (name: string) => JSON.stringify({ id: 1, name });
  return reply('x'.repeat(bytes - reply('').length));
}
