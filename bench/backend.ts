import { freePort } from '../test/support/free-port.ts';
import type { Children } from './children.ts';
import { startNginx } from './nginx.ts';

/** An nginx that is never the bottleneck. */
export interface Backend {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
}

export const PETS = '[{"id":1,"name":"Minka","categoryId":1,"status":"available"}]';
export const CREATED = '{"id":1,"name":"Minka","categoryId":1,"status":"available"}';
/** It exposes a peer that drops bodies. */
export const BODY_LENGTH = 'x-body-length';

export async function startBackend(children: Children): Promise<Backend> {
  const port = await freePort();
  const { pid } = await startNginx(children, {
    name: 'backend',
    port,
    place: 'beside',
    server: `add_header ${BODY_LENGTH} $content_length always;
    if ($request_method = POST) { return 201 '${CREATED}'; }
    return 200 '${PETS}';`,
  });
  return { url: `http://127.0.0.1:${port}`, port, pid };
}
