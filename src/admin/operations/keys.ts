import type { KeyUpdate, ManyImportedKeys, NewKey } from '@storegate/admin-api';
import { ConfigError } from '../../config/problems/problems.ts';
import { parseWindows } from '../../config/windows.ts';
import {
  applyImport,
  type ImportError,
  type ImportedKey,
  type ImportPlan,
  planImport,
} from '../../records/keys/bulk-import.ts';
import type { KeyDraft, KeyPatch } from '../../records/keys/draft.ts';
import type { KeyRecord } from '../../records/keys/key.ts';
import {
  createKey,
  type IssuedSecret,
  importKey,
  type KeyChange,
  type KeyEdit,
  revokeKey,
  rotateKey,
  setDisabled,
  updateKey,
} from '../../records/keys/manage.ts';
import { hashSecret, readHash } from '../../records/keys/secret.ts';
import type { KeyStore, KeysAsOf } from '../../records/keys/store.ts';
import {
  type AuditAction,
  type BulkImportEntry,
  MANY_KEYS,
} from '../../records/operators/audit-log.ts';
import { AdminError } from '../admin-error.ts';
import { recentBansOf } from '../ban-history.ts';
import { type AdminOperations, orLastKnown, type Task } from '../call.ts';
import type { Change } from '../change.ts';
import type { AdminContext } from '../context.ts';
import { durationIn, timeIn, unfitField } from '../duration.ts';
import { bannedIn, keyPage } from '../lists.ts';
import { accountTurn, subjectIn, turnOf } from '../subjects.ts';
import { auditedKey, keyView } from '../view.ts';

const DEFAULT_OVERLAP = '24h';

export function keyOperations(context: AdminContext, change: Change) {
  const { keys } = context;
  const lastUsed = async (id: string) =>
    (await context.uses.lastUsed([id])).get(id) ?? null;

  const lastKnown = (copied: KeysAsOf) => ({
    ...context,
    keys: copied,
    uses: { lastUsed: async () => new Map() },
    state: () => ({
      bans: async () => (await context.lastKnown?.bans())?.bans ?? [],
    }),
  });

  async function shown(record: KeyRecord, now: number) {
    const isBanned = await bannedIn(context);
    return keyView(record, now, await lastUsed(record.id), isBanned(record));
  }

  /** `show`: the result; it is stored with the change, if the call may be repeated. */
  const edited = <Body>(
    task: Task,
    turn: string,
    action: AuditAction,
    show: (record: KeyRecord, secret: string | null) => Body,
    work: (edit: KeyEdit) => Promise<KeyRecord | IssuedSecret>,
  ) =>
    change(task, turn, async ({ note }) => {
      const { now } = task;
      const auditNoteOf = ({ before, after, secret }: KeyChange) => {
        const entry = {
          action,
          target: after.id,
          before: before && auditedKey(before, now),
          after: auditedKey(after, now),
        };
        return note(entry, show(after, secret));
      };
      const made = await work({ store: keys, now, auditNoteOf });
      return 'secret' in made
        ? show(made.record, made.secret)
        : show(made, null);
    });

  async function changed(
    task: Task<'updateKey' | 'revokeKey' | 'disableKey' | 'enableKey'>,
    action: AuditAction,
    work: (edit: KeyEdit) => Promise<KeyRecord>,
  ) {
    const { id } = task.path;
    const turn = await turnOf(context, id);
    const [used, isBanned] = await Promise.all([
      lastUsed(id),
      bannedIn(context),
    ]);
    const show = (record: KeyRecord) =>
      keyView(record, task.now, used, isBanned(record));
    return edited(task, turn, action, show, work);
  }

  return {
    listKeys: async ({ query, now }) =>
      await orLastKnown(
        () => keyPage(context, query, now),
        context.lastKnown?.keys,
        (copied) => keyPage(lastKnown(copied), query, now),
      ),
    createKey: (task) =>
      edited(
        task,
        accountTurn(task.body.account),
        'keys.create',
        (record, secret) => withSecret(record, secret, task.now),
        (edit) =>
          createKey(edit, context.plans(), draftOf(task.body, task.now)),
      ),
    importKey: (task) =>
      edited(
        task,
        accountTurn(task.body.account),
        'keys.import',
        (record) => keyView(record, task.now, null),
        (edit) => {
          const draft = { ...draftOf(task.body, task.now), hash: hashOf(task) };
          return importKey(edit, context.plans(), draft);
        },
      ),
    importKeys: async (task) => {
      const { dryRun = false } = task.body;
      // A dry run needs no lock.
      if (dryRun) return report(await planOf(context, task), dryRun);
      return await change(task, MANY_KEYS, async ({ note }) => {
        const plan = await planOf(context, task);
        if (plan.flaws.length > 0 && !task.body.skipBad)
          throw refusal(plan.flaws);
        const response = report(plan, dryRun);
        if (plan.fresh.length === 0) return response;
        await applyImport(keys, plan, task.now, (ids) => {
          const after: BulkImportEntry = { count: ids.length, ids };
          return note(
            { action: 'keys.import', target: MANY_KEYS, before: null, after },
            response,
          );
        });
        return response;
      });
    },
    identifyKey: async ({ body, now }) => {
      const record = await keys.find(hashSecret(body.key));
      if (!record)
        throw new AdminError(
          'not_found',
          'No key with this secret was issued here, or its rotation has ended it.',
        );
      return await shown(record, now);
    },
    getKey: async ({ path, now }) =>
      await orLastKnown(
        async () => {
          const record = await existingKey(context, path.id);
          const { subject } = subjectIn(context, record);
          const { history } = await recentBansOf(subject, now, context);
          return { ...(await shown(record, now)), history };
        },
        context.lastKnown?.keys,
        async (copied) => {
          const isBanned = await bannedIn(lastKnown(copied));
          const record = await existingKey({ keys: copied }, path.id);
          return keyView(record, now, null, isBanned(record));
        },
      ),
    updateKey: (task) =>
      changed(task, 'keys.update', (edit) =>
        updateKey(edit, context.plans(), task.path.id, {
          ...patchOf(task.body, task.now),
          ...scopeChangeOf(task.body),
        }),
      ),
    revokeKey: (task) =>
      changed(task, 'keys.revoke', (edit) => revokeKey(edit, task.path.id)),
    disableKey: (task) =>
      changed(task, 'keys.disable', (edit) =>
        setDisabled(edit, task.path.id, true),
      ),
    enableKey: (task) =>
      changed(task, 'keys.enable', (edit) =>
        setDisabled(edit, task.path.id, false),
      ),
    rotateKey: async (task) =>
      edited(
        task,
        await turnOf(context, task.path.id),
        'keys.rotate',
        (record, secret) => withSecret(record, secret, task.now),
        (edit) =>
          rotateKey(edit, task.path.id, {
            ...task.body,
            overlap: durationIn(
              'overlap',
              task.body.overlap ?? DEFAULT_OVERLAP,
            ),
          }),
      ),
  } satisfies Partial<AdminOperations>;
}

function withSecret(record: KeyRecord, secret: string | null, now: number) {
  return { ...keyView(record, now, null), key: secret! };
}

async function existingKey(
  context: { readonly keys: Pick<KeyStore, 'get'> },
  id: string,
): Promise<KeyRecord> {
  const record = await context.keys.get(id);
  if (!record)
    throw new AdminError(
      'not_found',
      `The key ${JSON.stringify(id)} does not exist.`,
    );
  return record;
}

/** Throws ConfigError for invalid limits. `now` in Unix milliseconds. */
function draftOf(body: NewKey, now: number): KeyDraft {
  const { account, plan, env } = body;
  return { ...patchOf(body, now), account, plan, env };
}

function patchOf(body: KeyUpdate, now: number): KeyPatch {
  const {
    plan,
    label,
    limits,
    expires,
    expiresIn,
    addresses,
    scopes,
    apis,
    metadata,
  } = body;
  if (expires !== undefined && expiresIn !== undefined)
    throw unfitField('expiresIn', 'must be absent with expires');
  const at = typeof expires === 'string' ? timeIn('expires', expires) : expires;
  return {
    plan,
    label,
    addresses,
    scopes,
    apis,
    metadata,
    windows:
      typeof limits === 'string' ? parseWindows(limits, 'limits') : limits,
    expiresAt:
      expiresIn === undefined ? at : now + durationIn('expiresIn', expiresIn),
  };
}

/** Without a member if the call adds and removes none. Throws AdminError for a contradiction. */
function scopeChangeOf(body: KeyUpdate): Pick<KeyPatch, 'scopeChange'> {
  const { scopes, addScopes: add = [], removeScopes: remove = [] } = body;
  if (add.length + remove.length === 0) return {};
  if (scopes !== undefined)
    throw unfitField('scopes', 'must be absent with addScopes or removeScopes');
  const both = remove.find((scope) => add.includes(scope));
  if (both !== undefined)
    throw unfitField(
      'removeScopes',
      `must not have ${JSON.stringify(both)}, which addScopes has`,
    );
  return { scopeChange: { add, remove } };
}

function hashOf({ body }: Task<'importKey'>): string {
  const hash = readHash(body.hash);
  if (hash === null)
    throw new AdminError('invalid_value', 'The hash is not a SHA-256.');
  return hash;
}

async function planOf(
  context: AdminContext,
  { body, now }: Task<'importKeys'>,
): Promise<ImportPlan> {
  const unread: ImportError[] = [];
  const keys: ImportedKey[] = [];
  const places: number[] = [];
  for (const [index, one] of body.keys.entries()) {
    const key = foreignKeyOf(one, now);
    if ('message' in key) unread.push({ index, ...key });
    else {
      keys.push(key);
      places.push(index);
    }
  }
  const plan = await planImport(context.keys, context.plans(), keys, now);
  const flaws = plan.flaws.map((flaw) => ({
    ...flaw,
    index: places[flaw.index]!,
  }));
  return {
    ...plan,
    flaws: [...unread, ...flaws].sort((a, b) => a.index - b.index),
  };
}

function foreignKeyOf(
  body: ManyImportedKeys['keys'][number],
  now: number,
): ImportedKey | Omit<ImportError, 'index'> {
  const hash = readHash(body.hash);
  if (hash === null) return { field: 'hash', message: 'it is not a SHA-256' };
  try {
    return { ...draftOf(body, now), hash, disabled: body.disabled ?? false };
  } catch (error) {
    if (error instanceof ConfigError)
      return {
        field: 'limits',
        message: 'limits look like 600/minute,100000/day',
      };
    const [flaw] = error instanceof AdminError ? (error.details ?? []) : [];
    if (flaw === undefined) throw error;
    return { field: flaw.pointer.slice(1), message: flaw.message };
  }
}

function report({ fresh, already, flaws }: ImportPlan, dryRun: boolean) {
  return { dryRun, imported: fresh.length, already, bad: flaws };
}

function refusal(flaws: readonly ImportError[]): AdminError {
  const details = flaws.map(({ index, field, message }) => ({
    in: 'body' as const,
    pointer: `/keys/${index}/${field}`,
    message,
    rule: 'unfit' as const,
  }));
  const bad = new Set(flaws.map(({ index }) => index)).size;
  const [{ pointer, message }] = details as [(typeof details)[0]];
  const sentence = `Of these keys ${bad} cannot be imported, so none was; the first: ${pointer}: ${message}.`;
  return new AdminError('invalid_value', sentence, { details });
}
