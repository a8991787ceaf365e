import { Cluster, type Redis } from 'ioredis';

/** Milliseconds. */
const BEAT = 1_000;
/** A stopped machine sends no reset. */
export const SILENCE_TIMEOUT = 2_000;

/**
 * Calls `drop` for a connection on which Redis replies to nothing. The client's own `socketTimeout`
 * cannot be as short: it ignores replies that arrived while this process was held up. Returns a
 * function that stops.
 */
export function watchSilence(
  redis: Redis | Cluster,
  drop: (node: Redis) => void,
): () => void {
  /** Since when a beat waits for its reply, on the clock of `performance.now()`. */
  const waiting = new Map<Redis, number>();

  function look(node: Redis): void {
    const since = waiting.get(node);
    if (since === undefined) {
      if (node.status === 'ready') beat(node);
    } else if (performance.now() - since >= SILENCE_TIMEOUT) drop(node);
  }

  function beat(node: Redis): void {
    waiting.set(node, performance.now());
    const end = () => {
      waiting.delete(node);
    };
    node.ping().then(end, end);
  }

  function lookAtAll(): void {
    const nodes = redis instanceof Cluster ? redis.nodes() : [redis];
    for (const node of nodes) look(node);
  }

  return onBeat(lookAtAll);
}

/** Of all connections: each timer of its own would wake an idle process once more. */
const looks = new Set<() => void>();
let timer: NodeJS.Timeout | undefined;

function onBeat(look: () => void): () => void {
  looks.add(look);
  // An immediate comes after the reads of its turn.
  timer ??= setInterval(() => setImmediate(beatAll), BEAT).unref();
  return () => {
    looks.delete(look);
    if (looks.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function beatAll(): void {
  for (const look of looks) look();
}
