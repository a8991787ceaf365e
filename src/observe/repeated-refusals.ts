import { createCache } from '../common/cache.ts';
import { networkOf } from '../common/clients/address.ts';
import { createDelayedRun } from '../common/delayed-run.ts';
import { type Allowance, hasAllowance, newAllowance } from './allowance.ts';
import type { RequestEvent } from './events.ts';

/** Milliseconds until a further line is allowed, and more, as a timer may fire early. */
const REST = 1_100;
/** Known sources: at least so many, at most twice as many. */
const SOURCES = 2_000;
const STATUSES: ReadonlySet<number> = new Set([401, 403, 429]);
/** No plan limits what ends there. */
const BEFORE_ADMISSION: ReadonlySet<string | null> = new Set([
  'http',
  'authenticate',
]);

interface Source {
  readonly allowance: Allowance;
  silent: number;
  last: RequestEvent | null;
}

/** The line stands for `count` requests, by default one. */
type WriteLine = (event: RequestEvent, count?: number) => void;

/**
 * Limits the lines of identical refusals (same code, same key or address): ten at once, then one a
 * second with a count. A flood of refusals would otherwise fill the disk.
 */
export function createRepeatedRefusals(write: WriteLine) {
  const sources = createCache<Source>(SOURCES);
  const summed = new Set<Source>();
  const later = createDelayedRun(writeSummed, REST);

  function take(event: RequestEvent): void {
    const { status, code, keyId, address, step } = event;
    if (!STATUSES.has(status) && !BEFORE_ADMISSION.has(step)) {
      write(event);
      return;
    }
    const name = `${code} ${keyId ?? networkOf(address)}`;
    let source = sources.get(name);
    if (source === undefined) {
      source = {
        allowance: newAllowance(performance.now()),
        silent: 0,
        last: null,
      };
      sources.set(name, source);
    }
    source.silent++;
    source.last = event;
    if (writeOf(source)) return;
    summed.add(source);
    later.plan();
  }

  function close(): void {
    for (const { allowance } of summed) allowance.remaining = 1;
    writeSummed();
    later.close();
  }

  function writeSummed(): void {
    for (const source of summed) writeOf(source);
    if (summed.size > 0) later.plan();
  }

  function writeOf(source: Source): boolean {
    if (!hasAllowance(source.allowance, performance.now())) return false;
    source.allowance.remaining--;
    summed.delete(source);
    const { silent, last } = source;
    source.silent = 0;
    source.last = null;
    write(last!, silent === 1 ? undefined : silent);
    return true;
  }

  return { take, close };
}
