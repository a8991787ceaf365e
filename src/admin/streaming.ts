import type { Request, Response } from 'express';
import type { Observe } from '../observe/events.ts';
import { AdminError } from './admin-error.ts';
import type { Follow } from './call.ts';

/** Milliseconds between two looks whether the operator may still listen, each with a comment that keeps the connection alive. */
const LOOK = 2_000;
/** Milliseconds after which a browser that lost the stream asks again. */
const RETRY = 2_000;

/**
 * Answers a call with server-sent events, until the caller leaves, may listen no more (`response.locals.still`), or nothing comes
 * any more. Throws as `follow`, before anything is answered.
 */
export function sendEvents(request: Request, response: Response, follow: Follow, observe: Observe): void {
  // Of who left while the call was judged nothing is heard any more, no `close` either.
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
  const timer = setInterval(() => void look(response).catch(failed), LOOK).unref();
  response.on('close', () => {
    clearInterval(timer);
    stop();
  });
  begin(response).write(`retry: ${RETRY}\n\n`);
}

function begin(response: Response): Response {
  // Proxies that gather answers (nginx) would gather this one for ever.
  response.status(200).set({ 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' });
  response.flushHeaders();
  return response;
}

/** Ends a stream; that of who does not read, for whom its end would wait for ever, at once. */
function end(response: Response): void {
  if (response.writableNeedDrain) response.destroy();
  else response.end();
}

async function look(response: Response): Promise<void> {
  try {
    const operator = await response.locals.still();
    if (operator === null) end(response);
    else if (!response.writableEnded && !response.writableNeedDrain) response.write(': still here\n\n');
  } catch (error) {
    // Whoever was let in may stay while the state cannot be asked.
    if (!(error instanceof AdminError)) throw error;
  }
}
