import { createServer } from 'node:net';

/**
 * Below the ephemeral ports of systems; port + 10 000 is the bus of a Redis Cluster node, and below
 * them too.
 */
const LOWEST = 12_000;
const BUS = 10_000;
/**
 * Ports for each of ten processes: the workers of Jest, numbered from 1, and 0 for everything else.
 */
const SLICE = 1_000;
const first = LOWEST + (Number(process.env.JEST_WORKER_ID ?? 0) % 10) * SLICE;

/** Random, because another run of the tests has the same slices. */
let last = Math.floor(Math.random() * SLICE);

/** A free loopback port that no other worker gets, with a free bus port for a Cluster node. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < SLICE; tries++) {
    last = (last + 1) % SLICE;
    const port = first + last;
    if ((await isFree(port)) && (await isFree(port + BUS))) return port;
  }
  throw new Error(`no port from ${first} to ${first + SLICE - 1} is free`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
      .once('error', () => resolve(false))
      .listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
