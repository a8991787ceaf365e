import { parentPort, workerData } from 'node:worker_threads';
import { pendingRowsIn, type RowRequest } from './pending-rows.ts';

const rows = pendingRowsIn(workerData as string);

parentPort!.on('message', (request: RowRequest) => {
  const answer = rows.handle(request);
  if (answer !== null) parentPort!.postMessage(answer);
  if (request.type === 'close') parentPort!.close();
});
