import type { DatabaseSync } from 'node:sqlite';
import { CLOCK_SKEW } from '../../common/time.ts';
import { transaction } from '../../common/transaction.ts';
import type { AuditSettings } from '../../config/config.ts';
import { syncsCommitsOf } from '../../state/embedded/commits.ts';
import type { LastUseStore } from '../keys/last-use-tracker.ts';
import { modelIn } from '../model/model.ts';
import { recordsOf } from '../records.ts';
import type { Records } from '../storage.ts';
import { logInFile } from './log.ts';

/**
 * Milliseconds between two checks for changes by other processes, which are commands that do not
 * reach the gateway. Each wakes an idle process.
 */
const POLL_INTERVAL = 2_000;

/** Records in `state.db`. Commands may change them while a gateway runs. */
export function recordsInFile(
  db: DatabaseSync,
  audit: AuditSettings,
  sync = syncsCommitsOf(db),
): Records {
  const model = modelIn(db);
  const listeners = new Set<() => void>();
  const log = logInFile(db, model, {
    audit,
    sync,
    keysChanged: () => {
      for (const listener of listeners) listener();
    },
  });
  return recordsOf({
    log,
    model: () => model,
    lookUp: model.keys,
    watch(changed) {
      listeners.add(changed);
      const timer = watchOtherProcesses(db, changed);
      return () => {
        listeners.delete(changed);
        clearInterval(timer);
      };
    },
    uses: usesInFile(db),
  });
}

/** SQLite's data_version changes whenever another connection commits. */
function watchOtherProcesses(
  db: DatabaseSync,
  changed: () => void,
): NodeJS.Timeout {
  const version = db.prepare('PRAGMA data_version');
  const read = () => (version.get() as { data_version: number }).data_version;
  let seen = read();
  return setInterval(() => {
    const current = read();
    if (current === seen) return;
    seen = current;
    changed();
  }, POLL_INTERVAL).unref();
}

export function usesInFile(db: DatabaseSync): LastUseStore {
  const many = db.prepare(
    'SELECT id, at FROM uses WHERE id IN (SELECT value FROM json_each(?))',
  );
  // A use of a clock that was ahead must not hide later uses. As in lua/used-1.lua.
  const put = db.prepare(
    `INSERT INTO uses (id, at) VALUES ($id, $at) ON CONFLICT (id)
     DO UPDATE SET at = iif(at > $latest, excluded.at, max(at, excluded.at))`,
  );
  return {
    save(uses, now) {
      const latest = now + CLOCK_SKEW;
      transaction(db, () => {
        for (const [id, at] of uses) put.run({ id, at, latest });
      });
    },
    load: (ids) =>
      new Map(
        many
          .all(JSON.stringify(ids))
          .map(({ id, at }) => [id as string, at as number]),
      ),
  };
}
