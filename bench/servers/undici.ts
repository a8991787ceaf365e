import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Dispatcher, Pool } from 'undici';
import { backendUrl, CONNECTIONS, port } from './environment.ts';

const pool = new Pool(backendUrl, { connections: CONNECTIONS });
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding']);

createServer((request, response) => {
  const body = request.method === 'GET' ? null : request;
  const options = { method: request.method!, path: request.url!, headers: passedOn(request), body };
  pool.dispatch(options as Dispatcher.DispatchOptions, answerWith(response));
}).listen(port, '127.0.0.1');

/** undici writes `host` itself. */
function passedOn(request: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (!HOP_BY_HOP.has(name) && name !== 'host') headers[name] = value as string;
  }
  return headers;
}

function answerWith(response: ServerResponse): Dispatcher.DispatchHandler {
  return {
    onRequestStart() {},
    onResponseStart(_controller, status, headers) {
      for (const name of HOP_BY_HOP) delete headers[name];
      response.writeHead(status, headers);
    },
    onResponseData(_controller, chunk) {
      response.write(chunk);
    },
    onResponseEnd() {
      response.end();
    },
    onResponseError(_controller, error) {
      response.destroy(error);
    },
  };
}
