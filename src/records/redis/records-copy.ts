import { join } from 'node:path';
import { Outage } from '../../common/errors/outage.ts';
import { type Lock, tryLock } from '../../common/lock.ts';
import { MINUTE, SECOND } from '../../common/time.ts';
import { makeDataFolder } from '../../state/data-folder.ts';
import type { Connection } from '../../state/redis/client.ts';
import { keyOf } from '../../state/redis/key-names.ts';
import type { Bus } from '../../state/shared/remote-state.ts';
import type { KeyRecord } from '../keys/key.ts';
import type { Model } from '../model/model.ts';
import { createChanging } from './changing.ts';
import {
  type Copy,
  type CopyOptions,
  CopyWriteError,
  openCopy,
  removeCopy,
} from './copy.ts';
import { type CopyReader, createCopyReader } from './copy-reader.ts';
import type { Epoch } from './epoch.ts';
import { createFollower, type Follower } from './follower.ts';
import { numberOf, type Progress } from './progress.ts';

/** Held by the one process that writes the copy of a folder. */
const LOCK = 'records.lock';
/** Milliseconds between two attempts to write the copy in the folder. */
const RETRY_DELAY = MINUTE / 2;
/** Milliseconds that a question of an operator waits while all records are read. */
const WAIT = 2 * SECOND;

interface RecordsCopyOptions extends CopyOptions {
  /** `null`: in memory. */
  readonly folder: string | null;
  /** A worker reads the copy of its primary process; without a folder it has none. */
  readonly isWorker: boolean;
  /** Whether all records are read only if a question needs them, and it waits for that. */
  readonly isLazy?: boolean;
  readonly failed: (error: unknown) => void;
}

export type RecordsCopy = ReturnType<typeof createRecordsCopy>;

/**
 * The copy of the records in Redis that this process asks: written by it, or by another process of
 * the folder. It exists before the connection to Redis, because a gateway may start without it.
 */
export function createRecordsCopy(options: RecordsCopyOptions) {
  const { folder, source, maxAge, isWorker, failed } = options;
  const listeners = new Set<() => void>();
  let lock: Lock | null = null;
  let copy: Copy | null = null;
  let reader: CopyReader | null = null;
  let follower: Follower | null = null;
  let connected: FollowOptions | null = null;
  let retry: NodeJS.Timeout | undefined;
  let [stopListening, unlisten] = [() => {}, () => {}];
  let isClosed = false;

  openAny();

  function openAny() {
    if (folder === null) {
      if (!isWorker) copy = openCopy(null, options);
      return;
    }
    try {
      if (!isWorker && takeLock(folder)) copy = openCopy(folder, options);
    } catch (error) {
      giveUpFile(error);
    }
  }

  function takeLock(folder: string) {
    makeDataFolder(folder);
    lock ??= tryLock(join(folder, LOCK));
    return lock !== null;
  }

  /** A copy that cannot be written lacks changes: one in memory takes its place for a while. */
  function giveUpFile(error: unknown) {
    failed(error);
    follower?.close();
    try {
      copy?.close().catch(failed);
      if (lock) removeCopy(folder!);
    } catch (undeleted) {
      failed(undeleted);
    }
    copy = openCopy(null, options);
    begin();
    retryLater();
  }

  /** For errors of the copy, or of reading it. */
  function fileFailed(error: unknown) {
    const isOfFile = copy !== null && folder !== null && lock !== null;
    if (isOfFile && isSqlite(error)) giveUpFile(error);
    else failed(error);
  }

  function retryLater() {
    clearTimeout(retry);
    if (isClosed || folder === null || isWorker) return;
    retry = setTimeout(takeOver, RETRY_DELAY).unref();
  }

  /** Takes the place of a process that has ended, or of a copy in memory. */
  function takeOver() {
    try {
      if (!takeLock(folder!)) return retryLater();
      const whole = openCopy(folder, options);
      follower?.close();
      reader?.close();
      reader = null;
      copy?.close().catch(failed);
      copy = whole;
      begin();
      changed();
    } catch (error) {
      failed(error);
      retryLater();
    }
  }

  function begin() {
    if (!connected) return;
    const { redis, ...parts } = connected;
    if (copy) {
      follower = createFollower(redis, {
        ...parts,
        copy,
        changed,
        failed: fileFailed,
        isLazy: options.isLazy ?? false,
      });
    } else if (folder !== null) {
      reader = createCopyReader(redis, {
        ...parts,
        folder,
        source,
        changed,
        failed,
      });
      retryLater();
    } else {
      // Without a copy, what was looked up in Redis may have changed.
      stopListening = parts.bus.listen(({ type }) => {
        if (type !== 'subject') changed();
      });
    }
  }

  function changed() {
    for (const listener of listeners) listener();
  }

  const progress = (): Progress | null =>
    copy?.progress ?? reader?.progress ?? null;
  const tables = (): Model | null => copy?.model ?? reader?.model ?? null;
  const isWhole = () => progress()?.isWhole === true;
  const changing = createChanging(progress);

  /** Milliseconds; Infinity: it never was whole. */
  function age(): number {
    const current = progress();
    return current?.isWhole
      ? Math.abs(Date.now() - current.confirmedAt)
      : Number.POSITIVE_INFINITY;
  }

  function usable(): Model | null {
    const isYoung = progress() !== null && (age() <= maxAge || !isWhole());
    return isYoung ? tables() : null;
  }

  /** Waits for a reading of all records. */
  async function untilWhole() {
    const late = new Promise<'late'>((resolve) =>
      setTimeout(() => resolve('late'), WAIT).unref(),
    );
    for (let pass = follower?.pass; pass; pass = follower?.pass) {
      const first = options.isLazy ? pass : Promise.race([pass, late]);
      if ((await first) === 'late') throw stillReading();
    }
  }

  async function confirmTokens(): Promise<Model['tokens']> {
    const one = follower ?? reader;
    if (!one) throw stillReading();
    await one.confirm();
    const model = tables();
    if (!model || progress()!.epoch === '') throw stillReading();
    return model.tokens;
  }

  async function confirm(): Promise<Model> {
    await confirmTokens();
    await untilWhole();
    const model = tables();
    // Another process may be reading all records again.
    if (!model || !isWhole() || progress()!.isPassing) throw stillReading();
    return model;
  }

  return {
    follow(parts: FollowOptions) {
      connected = parts;
      unlisten = parts.bus.listen((message) => {
        const isNew =
          message.type === 'record' &&
          changing.add(message.number, message.hashes);
        if (isNew) changed();
      });
      begin();
    },
    /** For look-ups; `null`: it is too old, or cannot be read. */
    get usable(): Model | null {
      return usable();
    },
    /** `null`: it does not have such a key as it is now, or is not usable. */
    find(hash: string): KeyRecord | null {
      if (follower?.isStuck || changing.has(hash)) return null;
      try {
        return usable()?.keys.find(hash) ?? null;
      } catch (error) {
        if (!isSqlite(error)) throw error;
        fileFailed(error);
        return null;
      }
    },
    /** The tables with every change before the call. Throws an Outage. */
    confirm,
    /** Like `confirm`, but does not wait for a reading of all records. */
    confirmTokens,
    /** Resolves when an entry of this process is in the copy, or cannot be soon. */
    async reached(number: number) {
      const isThere = () => numberOf(progress()?.audit ?? '0') >= number;
      if (isThere()) return;
      const { promise: arrived, resolve } = Promise.withResolvers<void>();
      const arrive = () => isThere() && resolve();
      listeners.add(arrive);
      try {
        // A reading that a message has begun may have it sooner than one that begins now.
        await Promise.race([arrived, (follower ?? reader)?.confirm()]);
      } catch (error) {
        // The change is stored. The copy gets it when Redis responds again.
        if (!(error instanceof Outage)) throw error;
      } finally {
        listeners.delete(arrive);
      }
    },
    get isWhole() {
      return isWhole() && tables() !== null;
    },
    get age() {
      return age();
    },
    get progress() {
      return progress();
    },
    /** Of any age, for operators during an outage; `null`: never whole. */
    get lastKnown(): Model | null {
      return isWhole() ? tables() : null;
    },
    noteGateways(gateways: number) {
      if (copy && copy.progress.gateways !== gateways)
        copy.write({ type: 'save', changes: { gateways } }).catch(fileFailed);
    },
    watch(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    wake: () => (follower ?? reader)?.wake(),
    /** Any key may have changed: what is unknown may be in other data that Redis has. */
    changed,
    /** Why keys cannot be looked up without Redis, for operators; `null`: they can. */
    get unusable(): string | null {
      if (!isWhole())
        return folder === null
          ? 'redis.keyCache.enabled is false, so no copy of its keys survives a restart'
          : `${folder} has no copy of its keys yet`;
      if (age() <= maxAge) return null;
      const hours = (milliseconds: number) =>
        `${Math.round(milliseconds / 36_000) / 100} h`;
      return `the copy of its keys in ${folder} is ${hours(age())} old, and redis.keyCache.maxAge is ${hours(maxAge)}`;
    },
    async close() {
      isClosed = true;
      clearTimeout(retry);
      stopListening();
      unlisten();
      follower?.close();
      reader?.close();
      await copy?.close();
      lock?.release();
    },
  };
}

const isSqlite = (error: unknown) =>
  error instanceof CopyWriteError ||
  (error as NodeJS.ErrnoException).code === 'ERR_SQLITE_ERROR';

interface FollowOptions {
  readonly redis: Connection;
  readonly epoch: Epoch;
  readonly bus: Bus;
  /** Throws an Outage if Redis cannot be read yet. */
  readonly checkReadable: () => void;
  readonly lost: () => void;
}

function stillReading(): Outage {
  return new Outage('state_unavailable', {
    cause: `the records in ${keyOf.records.keys} are still being read`,
  });
}
