import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import { Outage } from '../common/errors/outage.ts';
import type { ResponseStream } from './call.ts';

/**
 * Reads on as the client does, and stops when it disconnects. After an error of the text the client
 * sees a response that was cut off; an outage is reported elsewhere, other errors are thrown.
 */
export async function sendStream(
  request: Request,
  response: Response,
  { type, text }: ResponseStream,
): Promise<void> {
  response.status(200).set('Content-Type', type);
  const sent = request.method === 'HEAD' ? Readable.from([]) : text;
  await pipeline(sent, response).catch((error: NodeJS.ErrnoException) => {
    const isReported = response.headersSent && error instanceof Outage;
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE' && !isReported) throw error;
  });
}
