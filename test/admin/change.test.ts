import type { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { AdminError } from '../../src/admin/admin-error.ts';
import { IdempotentCall, type Task } from '../../src/admin/call.ts';
import { type ChangePart, createChanges } from '../../src/admin/change.ts';
import { Outage } from '../../src/common/errors/outage.ts';
import { recordsInFile } from '../../src/records/embedded/records.ts';
import type { AuditLog } from '../../src/records/operators/audit-log.ts';
import { openStateFile } from '../../src/state/embedded/file.ts';
import { KEPT } from '../support/audit.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';

const folder = temporaryFolders();
let db: DatabaseSync;
let auditLog: AuditLog;
let changes: ReturnType<typeof createChanges>;
let isDown: boolean;
let steps: string[];

beforeEach(() => {
  db = openStateFile(folder());
  const kept = recordsInFile(db, KEPT).auditLog;
  isDown = false;
  steps = [];
  const reach = () => {
    if (isDown) throw new Outage('state_unavailable');
  };
  auditLog = {
    ...kept,
    async append(note) {
      reach();
      await kept.append(note);
      steps.push(`${note.entry.action} ${note.entry.target}`);
    },
    async forget(name) {
      reach();
      await kept.forget(name);
    },
    async resultOf(name, now) {
      reach();
      return await kept.resultOf(name, now);
    },
  };
  changes = createChanges(auditLog);
});
afterEach(async () => {
  isDown = false;
  await changes.close();
  db.close();
});

function task(idempotencyKey: string | null = null): Task {
  const call = {
    id: 'request',
    operator: { name: 'anna', role: 'admin' } as const,
    method: 'POST',
    path: '/',
    query: '',
    headers: [],
    body: null,
  };
  const idempotent = idempotencyKey === null ? null : new IdempotentCall(call, idempotencyKey, 200);
  return {
    now: 1,
    actor: 'anna',
    reason: null,
    requestId: 'request',
    idempotent,
    path: {},
    query: {},
    body: {},
  };
}

const part = (target: string, make: () => void = () => {}): ChangePart => ({
  entry: { action: 'keys.update', target, before: { is: 'old' }, after: { is: 'new' } },
  make: async () => {
    steps.push(`makes ${target}`);
    make();
  },
});
const fail = (error: Error) => () => {
  throw error;
};
const make = (
  parts: readonly ChangePart[],
  { key = null, answer: response = 'made' } = {} as MakeOptions,
) => changes.change(task(key), 'target', (audit) => audit.make(parts, response));
interface MakeOptions {
  key?: string | null;
  answer?: string;
}

describe('a change', () => {
  test('is recorded before it is made, part by part', async () => {
    expect(await make([part('one'), part('two')])).toEqual('made');
    expect(steps).toEqual(['keys.update one', 'makes one', 'keys.update two', 'makes two']);
  });

  test('is recorded as failed, and later parts are neither recorded nor made', async () => {
    await expect(
      make([part('one'), part('two', fail(new Error('unfit'))), part('three')]),
    ).rejects.toThrow('unfit');
    expect(steps).toEqual([
      'keys.update one',
      'makes one',
      'keys.update two',
      'makes two',
      'keys.update.failed two',
    ]);
    const [failed] = await auditLog.list({ limit: 1 });
    expect(failed).toMatchObject({
      before: { is: 'old' },
      after: { is: 'old' },
      actor: 'anna',
      requestId: 'request',
    });
  });

  test('can be repeated with its Idempotency-Key after a failure', async () => {
    const key = 'k'.repeat(16);
    await expect(
      make([part('one'), part('two', fail(new Error('unfit')))], { key }),
    ).rejects.toThrow('unfit');
    expect(await make([part('one'), part('two')], { key })).toEqual('made');
    steps = [];
    expect(await make([part('one')], { key })).toBe('made');
    expect(steps).toEqual([]);
  });

  test('is made once if it is repeated at once, and both calls get the response', async () => {
    const key = 'k'.repeat(16);
    const [first, second] = await Promise.all([
      make([part('one')], { key, answer: 'first' }),
      make([part('one')], { key, answer: 'second' }),
    ]);
    expect([first, second]).toEqual(['first', 'first']);
    expect(steps).toEqual(['keys.update one', 'makes one']);
  });

  test('gets the response of the same call at another gateway, whose change it has met', async () => {
    const other = createChanges(auditLog);
    const call = task('k'.repeat(16));
    const response = await changes.change(call, 'target', async () => {
      await other.change(call, 'target', (audit) => audit.make([part('one')], 'first'));
      throw new AdminError('not_found', 'The token does not exist.');
    });
    expect(response).toBe('first');
    await other.close();
  });

  test('waits for the previous change of its target, however that ends, and not for others', async () => {
    let end = () => {};
    const held = new Promise<void>((resolve) => {
      end = resolve;
    });
    const first = changes.change(task(), 'a', async () => {
      steps.push('a begins');
      await held;
      steps.push('a ends');
      throw new Error('unfit');
    });
    const second = changes.change(task(), 'a', async () => {
      steps.push('a again');
      return null;
    });
    await changes.change(task(), 'b', async () => {
      steps.push('b');
      return null;
    });
    end();
    await expect(first).rejects.toThrow('unfit');
    await second;
    expect(steps).toEqual(['a begins', 'b', 'a ends', 'a again']);
  });
});

describe('while the audit log is unavailable', () => {
  const loseIt = () => {
    isDown = true;
    throw new Outage('state_unavailable');
  };

  test('records a failed change as soon as the log is available again, without a further call', async () => {
    await expect(make([part('one', loseIt)])).rejects.toBeInstanceOf(Outage);
    expect(steps).toEqual(['keys.update one', 'makes one']);
    isDown = false;
    await until('it is recorded', () => steps.includes('keys.update.failed one'));
  });

  test('makes no other change; then records the failed one first, and allows it again', async () => {
    const key = 'k'.repeat(16);
    await expect(make([part('one', loseIt)], { key })).rejects.toBeInstanceOf(Outage);
    await expect(make([part('two')])).rejects.toBeInstanceOf(Outage);
    isDown = false;
    expect(await make([part('one')], { key })).toEqual('made');
    expect(steps).toEqual([
      'keys.update one',
      'makes one',
      'keys.update.failed one',
      'keys.update one',
      'makes one',
    ]);
  });
});

test('a failed change is not answered with its response, though that is not forgotten yet', async () => {
  const append = auditLog.append;
  const loses = part('one', () => {
    auditLog.append = fail(new Outage('state_unavailable'));
    throw new Error('unfit');
  });
  await expect(make([loses], { key: 'k'.repeat(16) })).rejects.toThrow('unfit');
  auditLog.append = append;
});

test('an error while recording a failure hides nothing', async () => {
  const broken = fail(new Error('disk full'));
  const append = auditLog.append;
  const loses = part('one', () => {
    auditLog.append = broken;
    throw new Error('unfit');
  });
  await expect(make([loses])).rejects.toMatchObject({
    errors: [
      expect.objectContaining({ message: 'unfit' }),
      expect.objectContaining({ message: 'disk full' }),
    ],
  });
  auditLog.append = append;
});
