import cluster from 'node:cluster';

// Ctrl-C and a closed terminal reach every process of the group: the primary process decides what they mean. Before
// anything else is loaded, for that takes its time.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});

const { Carrier } = await import('./carrier.ts');

const carrier = new Carrier((frame, sent) => void process.send!(frame, sent));
process.on('message', (message) => carrier.receive(message));

cluster.worker!.on('disconnect', () => {
  // Node ends a worker at once whose primary process has gone, unless the worker is known to leave by itself.
  cluster.worker!.exitedAfterDisconnect = true;
  void carrier.abandoned().finally(() => process.exit());
});

process.on('SIGTERM', () => void carrier.leave().finally(() => process.exit()));
