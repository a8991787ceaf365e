import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import type { Observe } from '../observe/events.ts';
import { AdminError } from './admin-error.ts';
import type { AnswerStream, Follow } from './call.ts';

/** Milliseconds between checks of the operator's access; each sends a comment as keep-alive. */
const LOOK = 2_000;
/** Milliseconds; sent to the browser as `retry`. */
const RETRY = 2_000;

/**
 * Server-sent events until the client disconnects, loses access (`response.locals.still`), or the
 * source ends. Throws as `follow`, before any response.
 */
export function sendEvents(
  request: Request,
  response: Response,
  follow: Follow,
  observe: Observe,
): void {
  // A client that disconnected meanwhile emits no further `close`.
  if (response.destroyed) return;
  if (request.method === 'HEAD') return void begin(response).end();
  const failed = (error: unknown) => {
    observe({ type: 'bug', id: response.get('X-Request-Id') ?? '', error });
    end(response);
  };
  const stop = follow({
    send(event, data) {
      if (response.writableEnded || response.writableNeedDrain) return false;
      response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
      return true;
    },
    end(error) {
      if (error === undefined) end(response);
      else failed(error);
    },
  });
  const timer = setInterval(
    () => void look(response).catch(failed),
    LOOK,
  ).unref();
  response.on('close', () => {
    clearInterval(timer);
    stop();
  });
  begin(response).write(`retry: ${RETRY}\n\n`);
}

/** Reads on as the client does, and stops when it disconnects. */
export async function sendStream(
  request: Request,
  response: Response,
  { type, text }: AnswerStream,
): Promise<void> {
  response.status(200).set('Content-Type', type);
  const sent = request.method === 'HEAD' ? Readable.from([]) : text;
  await pipeline(sent, response).catch((error: unknown) => {
    // Otherwise the client sees a response that was cut off.
    if (!response.headersSent) throw error;
  });
}

function begin(response: Response): Response {
  // nginx would buffer the stream.
  response
    .status(200)
    .set({ 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' });
  response.flushHeaders();
  return response;
}

/** A client that does not read is disconnected at once, as its end would never be sent. */
function end(response: Response): void {
  if (response.writableNeedDrain) response.destroy();
  else response.end();
}

async function look(response: Response): Promise<void> {
  try {
    const operator = await response.locals.still();
    if (operator === null) end(response);
    else if (!response.writableEnded && !response.writableNeedDrain)
      response.write(': still here\n\n');
  } catch (error) {
    // Access continues while the state is down.
    if (!(error instanceof AdminError)) throw error;
  }
}
