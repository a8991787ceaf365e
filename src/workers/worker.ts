import cluster from 'node:cluster';

// Ctrl-C and a closed terminal reach every process of the group: the primary process decides what they mean. Before
// anything else is loaded, for that takes its time.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});

const { WorkerProcess } = await import('./process.ts');

const worker = new WorkerProcess((frame, sent) => void process.send!(frame, sent));
process.on('message', (message) => worker.receive(message));

cluster.worker!.on('disconnect', () => {
  // Node ends a worker at once whose primary process has gone, unless the worker is known to leave by itself.
  cluster.worker!.exitedAfterDisconnect = true;
  void worker.abandoned().finally(() => process.exit());
});

process.on('SIGTERM', () => void worker.leave().finally(() => process.exit()));
