import cluster from 'node:cluster';

// Signals reach every process of the group, but the primary process decides. First, because loading
// the rest takes time.
for (const signal of ['SIGINT', 'SIGHUP'] as const)
  process.on(signal, () => {});

const { postponeOptimizing, tuneEngine } = await import('../engine.ts');
tuneEngine();
postponeOptimizing();
const { createWorkerProcess } = await import('./process.ts');

const worker = createWorkerProcess(
  (frame, sent) => void process.send!(frame, sent),
);
process.on('message', worker.receive);

cluster.worker!.on('disconnect', () => {
  // Node kills a worker when its primary process exits, unless it is marked as leaving.
  cluster.worker!.exitedAfterDisconnect = true;
  void worker.abandoned().finally(() => process.exit());
});

process.on('SIGTERM', async () => {
  if (await worker.leave()) process.exit();
});
