import { statSync } from 'node:fs';
import { join } from 'node:path';
import { Outage } from '../../common/errors/outage.ts';
import { openDatabase } from '../../common/open-database.ts';
import { SECOND } from '../../common/time.ts';
import type { Connection } from '../../state/redis/client.ts';
import { EPOCH } from '../../state/redis/data-mark.ts';
import { keyOf } from '../../state/redis/key-names.ts';
import { withTimeout } from '../../state/redis/timeouts.ts';
import type { Bus } from '../../state/shared/remote-state.ts';
import { modelIn } from '../model/model.ts';
import { COPY_FILE, isOfThisFormat } from './copy.ts';
import { type Epoch, orReplica } from './epoch.ts';
import { numberOf, type Progress, progressIn } from './progress.ts';

const { head } = keyOf.records;

/** Milliseconds between two looks at the position of the copy, without a message and after one. */
const INTERVAL = SECOND;
const FIRST_WAIT = 1;
const LONGEST_WAIT = 50;
/** Milliseconds after which a copy that does not have a known entry is not used. */
const BEHIND_AFTER = SECOND;

interface CopyReaderOptions {
  readonly folder: string;
  readonly source: string;
  readonly epoch: Epoch;
  readonly bus: Bus;
  /** Throws an Outage if Redis cannot be read yet. */
  readonly checkReadable: () => void;
  readonly changed: () => void;
  readonly failed: (error: unknown) => void;
}

export type CopyReader = ReturnType<typeof createCopyReader>;

/**
 * Reads the copy that another process writes. Its position shows how far it is: if it does not
 * reach an entry that Redis has, it is not used.
 */
export function createCopyReader(
  redis: Connection,
  options: CopyReaderOptions,
) {
  const { folder, source, epoch, bus, checkReadable, changed, failed } =
    options;
  const file = join(folder, COPY_FILE);
  let open: ReturnType<typeof openAt> | null = null;
  let progress: Progress | null = null;
  /** The number of the last entry that Redis is known to have, and since when. */
  let target = { number: 0, since: 0 };
  let isBehind = false;
  let timer: NodeJS.Timeout | undefined;

  const stopListening = bus.listen((message) => {
    if (message.type === 'record') expect(message.number);
    else if (message.type === 'anything') void ask().catch(() => {});
  });
  // An outage is reported by requests.
  const asking = setInterval(
    () => void ask().catch(() => {}),
    INTERVAL,
  ).unref();
  look();

  function close() {
    open?.db.close();
    open = null;
    progress = null;
  }

  function read() {
    const inode = statSync(file, { throwIfNoEntry: false })?.ino;
    if (open?.inode !== inode) close();
    if (inode !== undefined) open ??= openAt(file, inode);
    const found = open?.progress() ?? null;
    return found?.source === source ? found : null;
  }

  /** Reports a position that has moved. */
  function look() {
    const before = progress;
    try {
      progress = read();
    } catch (error) {
      close();
      failed(error);
    }
    if (progress?.epoch !== before?.epoch) target.number = 0;
    const wasBehind = isBehind;
    isBehind = !isReached() && performance.now() - target.since > BEHIND_AFTER;
    const isMoved =
      progress?.audit !== before?.audit ||
      progress?.epoch !== before?.epoch ||
      progress?.isPassing !== before?.isPassing;
    if (isMoved || isBehind !== wasBehind) changed();
  }

  function isReached() {
    const position = progress === null ? 0 : numberOf(progress.audit);
    return target.number <= position;
  }

  const isUsed = () => !isBehind && progress !== null;

  function expect(number: number) {
    if (number > target.number) {
      const since = isReached() ? performance.now() : target.since;
      target = { number, since };
      // What was looked up in Redis instead may have changed.
      if (!isUsed()) changed();
    }
    lookUntilReached(0);
  }

  function lookUntilReached(wait: number) {
    clearTimeout(timer);
    look();
    if (isReached()) return;
    const next = Math.min(LONGEST_WAIT, Math.max(FIRST_WAIT, 2 * wait));
    timer = setTimeout(() => lookUntilReached(next), next).unref();
  }

  /** Resolves with the epoch of the data that Redis has. */
  async function ask(): Promise<string> {
    look();
    checkReadable();
    // A write that changes nothing: a replica, which may lack entries, refuses it.
    const [[mark, number]] = await orReplica(
      withTimeout(
        Promise.all([redis.hmget(head, EPOCH, 'audit'), redis.persist(head)]),
      ),
    );
    // Otherwise a look-up would be the first to find out that data was lost.
    const current = await epoch.check(mark!);
    if (progress === null || current === progress.epoch)
      expect(Number(number ?? 0));
    return current;
  }

  return {
    /** `null`: it cannot be used. */
    get model() {
      return isUsed() ? (open?.model ?? null) : null;
    },
    get progress() {
      return progress;
    },
    /** Throws an Outage if the copy does not reach what Redis has now. */
    async confirm() {
      let current = await ask();
      for (
        let wait = FIRST_WAIT;
        !isReached() || progress?.epoch !== current;
        wait *= 2
      ) {
        if (wait > BEHIND_AFTER)
          throw new Outage('state_unavailable', {
            cause: `${file} lacks changes that Redis has`,
          });
        await new Promise((resolve) => setTimeout(resolve, wait).unref());
        look();
        if (progress?.epoch !== current) current = await ask();
      }
    },
    wake: () => void ask().catch(() => {}),
    close() {
      stopListening();
      clearInterval(asking);
      clearTimeout(timer);
      close();
    },
  };
}

function openAt(file: string, inode: number) {
  return openDatabase(file, { readOnly: true, timeout: 100 }, (db) => {
    if (!isOfThisFormat(db)) throw new Error(`${file} has another format`);
    return {
      db,
      inode,
      model: modelIn(db),
      progress: progressIn(db),
    };
  });
}
