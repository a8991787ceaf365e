import { parentPort, workerData } from 'node:worker_threads';
import { pendingRowsIn, type RowRequest } from './pending-rows.ts';

const rows = pendingRowsIn(workerData as string);

parentPort!.on('message', (request: RowRequest) => {
  const reply = rows.handle(request);
  if (reply !== null) parentPort!.postMessage(reply);
  if (request.type === 'close') parentPort!.close();
});
