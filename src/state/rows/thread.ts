import { parentPort, workerData } from 'node:worker_threads';
import { pendingRowsIn, type RowRequest } from './pending-rows.ts';

const rows = pendingRowsIn(workerData as string);

parentPort!.on('message', (request: RowRequest) => {
  const reply = rows.handle(request);
  // A copy of what was read would take as much memory again until it is collected.
  const values = reply?.values?.filter((value) => value !== null) ?? [];
  const moved = values.map(({ buffer }) => buffer as ArrayBuffer);
  if (reply !== null) parentPort!.postMessage(reply, moved);
  if (request.type === 'close') parentPort!.close();
});
