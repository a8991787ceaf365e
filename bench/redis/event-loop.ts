/**
 * Loaded into a gateway with `--import`: how long its event loop stops, for each connection to the
 * socket EVENT_LOOP. Each connection gets the figures since the one before.
 */
import { createServer } from 'node:net';
import { threadCpuUsage } from 'node:process';
import { isMainThread } from 'node:worker_threads';

export interface Stops {
  /** Milliseconds. */
  readonly longest: number;
  /** Milliseconds of CPU of the longest one: without waits for a processor and for the disk. */
  readonly longestCpu: number;
  /** Stops of more than 5 and 20 ms. */
  readonly over5: number;
  readonly over20: number;
}

const NONE: Stops = { longest: 0, longestCpu: 0, over5: 0, over20: 0 };
let stops = NONE;
let [lastTime, lastCpu] = [performance.now(), cpu()];

function cpu(): number {
  const { user, system } = threadCpuUsage();
  return (user + system) / 1_000;
}

setInterval(() => {
  const [time, used] = [performance.now(), cpu()];
  // The timer itself waits for a millisecond.
  const [stop, work] = [time - lastTime - 1, used - lastCpu];
  [lastTime, lastCpu] = [time, used];
  stops = {
    longest: Math.max(stops.longest, stop),
    longestCpu: Math.max(stops.longestCpu, Math.min(stop, work)),
    over5: stops.over5 + Number(stop > 5),
    over20: stops.over20 + Number(stop > 20),
  };
}, 1).unref();

// Threads load it, too.
if (isMainThread)
  createServer((socket) => {
    socket.end(JSON.stringify(stops));
    stops = NONE;
  })
    .listen(process.env.EVENT_LOOP)
    .unref();
