import type { MaybePromise } from '../common/maybe-promise.ts';
import type { KeyRecord } from './keys/key.ts';
import type { LastUseStore } from './keys/last-use-tracker.ts';
import type { KeyStore } from './keys/store.ts';
import { type Changes, type Log, WrongToken } from './log.ts';
import type { LogName } from './model/entries.ts';
import type { Model } from './model/model.ts';
import type { AuditLog, AuditNote } from './operators/audit-log.ts';
import type { TokenStore } from './operators/tokens.ts';
import type { Records } from './storage.ts';

interface RecordsParts {
  readonly log: Log;
  /**
   * The model with all changes that were made before the call. Throws `Outage` if it may lack
   * some.
   */
  readonly model: () => MaybePromise<Model>;
  readonly lookUp: Pick<KeyStore, 'find' | 'get' | 'findMany' | 'hasImported'>;
  readonly watch: KeyStore['watch'];
  readonly uses: LastUseStore;
}

/** Every change is an entry of the log, and every question is one of the model. */
export function recordsOf(parts: RecordsParts): Records {
  const { log, uses } = parts;
  return {
    keys: keysOf(parts),
    tokens: tokensOf(parts),
    auditLog: auditLogOf(parts, 'audit'),
    banLog: auditLogOf(parts, 'bans'),
    uses,
  };

  function auditLogOf({ model }: RecordsParts, name: LogName): AuditLog {
    return {
      append: (note) => log.append(name, note),
      list: (query) => from(model, (tables) => tables[name].list(query)),
      resultOf: (call, now) => log.resultOf(call, now),
      forget: (call) => log.forget(call),
    };
  }
}

function keysOf({ log, model, lookUp, watch }: RecordsParts): KeyStore {
  const add = (added: readonly KeyRecord[], note: AuditNote) =>
    log.append('audit', note, { added });
  return {
    ...lookUp,
    async *read(query) {
      yield* (await model()).keys.read(query);
    },
    async *readAccounts(accounts) {
      yield* (await model()).keys.readAccounts(accounts);
    },
    async *readExpiring(begin, end) {
      yield* (await model()).keys.readExpiring(begin, end);
    },
    accounts: (after, limit) =>
      from(model, ({ keys }) => keys.accounts(after, limit)),
    countKeys: (plans) => from(model, ({ keys }) => keys.countKeys(plans)),
    isEmpty: () => from(model, ({ keys }) => keys.isEmpty()),
    add: (record, note) => add([record], note),
    addMany: add,
    replace: (replaced, note) => log.append('audit', note, { replaced }),
    watch,
  };
}

function tokensOf({ log, model }: RecordsParts): TokenStore {
  async function change(note: AuditNote, changes: Changes) {
    try {
      await log.append('audit', note, changes);
      return true;
    } catch (error) {
      if (error instanceof WrongToken) return false;
      throw error;
    }
  }

  return {
    list: () => from(model, ({ tokens }) => tokens.list()),
    add: (tokenAdded, note) => change(note, { tokenAdded }),
    remove: (tokenRemoved, note) => change(note, { tokenRemoved }),
  };
}

/** At once if the model is in this process. */
function from<T>(
  model: () => MaybePromise<Model>,
  ask: (model: Model) => T,
): MaybePromise<T> {
  const found = model();
  return found instanceof Promise ? found.then(ask) : ask(found);
}
