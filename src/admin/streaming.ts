import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import type { ResponseStream } from './call.ts';

/** Reads on as the client does, and stops when it disconnects. */
export async function sendStream(
  request: Request,
  response: Response,
  { type, text }: ResponseStream,
): Promise<void> {
  response.status(200).set('Content-Type', type);
  const sent = request.method === 'HEAD' ? Readable.from([]) : text;
  await pipeline(sent, response).catch((error: unknown) => {
    // Otherwise the client sees a response that was cut off.
    if (!response.headersSent) throw error;
  });
}
