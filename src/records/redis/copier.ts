import { parentPort, workerData } from 'node:worker_threads';
import { type CopyRequest, openCopyWriter } from './copy-writer.ts';

/** The thread that writes a copy of the records. */
const writer = openCopyWriter(workerData as string);

parentPort!.on('message', (request: CopyRequest) => {
  parentPort!.postMessage(writer.handle(request));
  if (request.type === 'close') parentPort!.close();
});
