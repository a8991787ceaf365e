import { GONE, partIn } from './names.ts';
import type { TakenPart } from './store.ts';

/** Bytes of all, and of those that are stored at once. */
const MOST_BYTES = 16 << 20;
const AT_ONCE = 1 << 20;

interface UnstoredPart {
  readonly bytes: Buffer;
  readonly requests: number;
  /** When it was stored first, Unix milliseconds; `null`: not yet. */
  storedAt: number | null;
  isSpooled: boolean;
}

type Entry = readonly [name: string, bytes: Buffer];

/**
 * Parts of minutes that have ended, until they are stored for the last time. `drop` gets the name
 * and the lost requests of a part that will not be stored.
 */
export function createUnstoredParts(
  drop: (name: string, lost: number) => void,
) {
  const parts = new Map<string, UnstoredPart>();
  let bytes = 0;

  function remove(name: string) {
    bytes -= parts.get(name)!.bytes.length;
    parts.delete(name);
  }

  /** `stored`: requests of the part that are in the store. */
  function giveUp(name: string, stored: number) {
    const { requests } = parts.get(name)!;
    remove(name);
    drop(name, Math.max(0, requests - stored));
  }

  /** The last word of an earlier process comes after all that it has left. */
  function mustWait(name: string): boolean {
    const { part, process } = partIn(name)!;
    const isOther = (one: string) =>
      one !== name && partIn(one)!.process === process;
    return part === GONE && [...parts.keys()].some(isOther);
  }

  function entries(some: (part: UnstoredPart) => boolean): Entry[] {
    return [...parts]
      .filter(([, part]) => some(part))
      .map(([name, { bytes }]) => [name, bytes]);
  }

  return {
    get count() {
      return parts.size;
    },
    get bytes() {
      return bytes;
    },
    has: (name: string) => parts.has(name),
    all: () => entries(() => true),
    unspooled: () => entries(({ isSpooled }) => !isSpooled),
    add(name: string, part: Buffer, requests: number, isSpooled = false) {
      parts.set(name, { bytes: part, requests, storedAt: null, isSpooled });
      bytes += part.length;
      for (const oldest of parts.keys()) {
        if (bytes <= MOST_BYTES) break;
        giveUp(oldest, 0);
      }
    },
    /** Not stored yet, or so long ago that it is stored for the last time. */
    due(mayLose: number, now: number): Map<string, Buffer> {
      const due = new Map<string, Buffer>();
      let size = 0;
      for (const [name, { bytes, storedAt }] of parts) {
        if (size > AT_ONCE) break;
        const isDue = storedAt === null || Math.abs(now - storedAt) >= mayLose;
        if (!isDue || mustWait(name)) continue;
        due.set(name, bytes);
        size += bytes.length;
      }
      return due;
    },
    /** `added`: those that the store did not have. */
    noteStored(
      names: Iterable<string>,
      added: ReadonlySet<string>,
      mayLose: number,
      now: number,
    ) {
      for (const name of names) {
        const part = parts.get(name);
        if (part === undefined) continue;
        // A sum may have taken the last word meanwhile.
        const isThere = !added.has(name) || partIn(name)!.part === GONE;
        if ((part.storedAt !== null && isThere) || mayLose === 0) remove(name);
        else part.storedAt = now;
      }
    },
    noteSpooled(names: Iterable<string>) {
      for (const name of names) {
        const part = parts.get(name);
        if (part !== undefined) part.isSpooled = true;
      }
    },
    /** A sum took these parts of a process that was silent for long. */
    noteTaken(taken: readonly TakenPart[]) {
      for (const { name, requests } of taken)
        if (parts.has(name)) giveUp(name, requests);
    },
    /** The number of the first minute of a process that may be stored again. */
    firstNumberOf(process: string): number {
      let first = Number.POSITIVE_INFINITY;
      for (const name of parts.keys()) {
        const part = partIn(name)!;
        if (part.process === process) first = Math.min(first, part.number);
      }
      return first;
    },
  };
}
