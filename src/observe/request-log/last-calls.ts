import { roundMilliseconds, SECOND } from '../../common/time.ts';
import type { RequestEvent } from '../events.ts';
import type { Call } from '../peers/requests.ts';

/** Calls per key; of more in a second the first. */
const CALLS = 20;
/** Keys, of about 1 KB each. */
const KEYS = 4_000;
/** Numbers per call. */
const NUMBERS = 3;

/** Columns, which the next key reuses: kept objects would survive young collections. */
class KeyCalls {
  keyId = '';
  isUsed = true;
  next = 0;
  second = 0;
  inSecond = 0;
  readonly numbers = new Float64Array(CALLS * NUMBERS);
  readonly methods: string[] = [];
  readonly operations: string[] = [];
  readonly addresses: string[] = [];
}

/**
 * The last successful calls of each key, whatever other keys do. A key that was not used recently
 * is replaced by another.
 */
export function createLastCalls() {
  const byKey = new Map<string, KeyCalls>();
  let all: KeyCalls[] = [];
  let hand = 0;

  /** The columns of a new key. */
  function claim(keyId: string): KeyCalls {
    const calls = all.length < KEYS ? new KeyCalls() : leastUsed();
    if (calls.keyId === '') all.push(calls);
    byKey.delete(calls.keyId);
    byKey.set(keyId, calls);
    calls.keyId = keyId;
    calls.next = 0;
    calls.second = 0;
    calls.methods.length = 0;
    return calls;
  }

  /** Goes round until it finds a key that was not used since it last came by. */
  function leastUsed(): KeyCalls {
    for (;;) {
      const calls = all[hand]!;
      hand = (hand + 1) % KEYS;
      if (!calls.isUsed) return calls;
      calls.isUsed = false;
    }
  }

  return {
    put(event: RequestEvent, endedAt: number): void {
      const { keyId } = event;
      if (keyId === null) return;
      const calls = byKey.get(keyId) ?? claim(keyId);
      calls.isUsed = true;
      const second = Math.floor(endedAt / SECOND);
      if (calls.second !== second) calls.inSecond = 0;
      calls.second = second;
      if (calls.inSecond++ >= CALLS) return;
      const at = calls.next;
      calls.next = at + 1 === CALLS ? 0 : at + 1;
      calls.methods[at] = event.method;
      calls.operations[at] = event.operation;
      calls.addresses[at] = event.address;
      calls.numbers[at * NUMBERS] = endedAt;
      calls.numbers[at * NUMBERS + 1] = event.duration;
      calls.numbers[at * NUMBERS + 2] = event.status;
    },
    of(keyId: string): Omit<Call, 'worker'>[] {
      const calls = byKey.get(keyId);
      if (calls === undefined) return [];
      const { numbers, methods, operations, addresses } = calls;
      return methods.map((method, i) => {
        const first = i * NUMBERS;
        const duration = numbers[first + 1]!;
        return {
          at: Math.round(numbers[first]! - duration),
          method,
          operation: operations[i]!,
          status: numbers[first + 2]!,
          address: addresses[i]!,
          duration: roundMilliseconds(duration)!,
        };
      });
    },
    clear() {
      byKey.clear();
      all = [];
      hand = 0;
    },
  };
}
