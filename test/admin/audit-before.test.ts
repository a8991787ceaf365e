import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from '@jest/globals';
import { ADMIN_CONTRACT } from '@storegate/admin-api/files';
import fc from 'fast-check';
import { parse } from 'yaml';
import { adminOf } from '../support/admin.ts';
import type { Response } from '../support/client.ts';
import { bodyOf } from '../support/failure.ts';
import { TestGateway } from '../support/gateway.ts';

const PLANS = `plans:
  free: { windows: [{ limit: 60, per: minute }], concurrency: 77 }
  team: { count: account, windows: [{ limit: 50, per: hour, kind: sliding }], weight: 3 }
  custom: { custom: true }
  basic: { windows: [{ limit: 60, per: minute }] }
  other: { custom: true }
`;

// Each change of a plan is a reload, which reads the contract.
const gateway = await TestGateway.start({ plans: PLANS, env: { STOREGATE_CONTRACT: 'none' } });
afterAll(() => gateway.stop());
const admin = adminOf(gateway.adminUrl);

// biome-ignore lint/suspicious/noExplicitAny: views have any fields.
type View = Record<string, any>;

/** Something that operators change. */
interface Thing {
  /** What an entry must say of it; `null`: it does not exist. */
  readonly read: () => Promise<View | null>;
  /** Brings about what an entry said before a change; `null`: no operation can. */
  readonly restore: (before: View, after: View) => Promise<Response> | null;
}

const without = (view: View, ...names: readonly string[]): View =>
  Object.fromEntries(Object.entries(view).filter(([name]) => !names.includes(name)));

async function viewOf(path: string, ...names: readonly string[]): Promise<View | null> {
  const { status, body } = await admin('GET', path);
  return status === 404 ? null : without(body, ...names);
}

const windowsIn = (limits: string | null): string[] =>
  limits === null ? [] : limits.split(',').map((window) => /\/(\w+)/.exec(window)![1]!);

const planOf = (name: string): Thing => ({
  read: () => viewOf(`/plans/${name}`, 'name', 'keys'),
  restore(before, after) {
    // A window that is dropped and named keeps nothing of what it was.
    const drop = before.limits === null ? [] : windowsIn(after.limits);
    return admin('PUT', `/plans/${name}`, { ...before, ...(drop.length > 0 && { drop }) });
  },
});

const EDITABLE = ['plan', 'label', 'limits', 'expires', 'addresses', 'scopes', 'metadata'];

const keyOf = (id: string): Thing => ({
  // A ban is a change of the client, which the entries of the key do not have.
  read: async () => {
    const view = await viewOf(`/keys/${id}`, 'created', 'lastUsed', 'history');
    return view?.status === 'banned' ? { ...view, status: 'active' } : view;
  },
  restore(before, after) {
    if (after.revoked !== before.revoked || after.rotation?.at !== before.rotation?.at) return null;
    if (before.disabled !== null && after.disabled === null)
      return admin('POST', `/keys/${id}/disable`);
    if (before.disabled === null && after.disabled !== null)
      return admin('POST', `/keys/${id}/enable`);
    return admin(
      'PATCH',
      `/keys/${id}`,
      Object.fromEntries(EDITABLE.map((name) => [name, before[name]])),
    );
  },
});

/** The ban of a key; an entry calls its end `until`. */
const banOf = (id: string): Thing => ({
  async read() {
    const { plan, banned } = (await admin('GET', `/usage/${id}`)).body.usage[0];
    return { plan, until: banned };
  },
  restore(before) {
    if (before.until === null) return admin('DELETE', `/bans/${id}`);
    const duration = `${Date.parse(before.until) - gateway.clock.now}ms`;
    return admin('PUT', `/bans/${id}`, { duration, reason: 'restored' });
  },
});

interface Action {
  readonly name: string;
  readonly thing: Thing;
  readonly make: () => Promise<Response>;
}

const { constantFrom, option, record, uniqueArray } = fc;
const blocks = constantFrom('10.0.0.0/8', '192.0.2.1', '2001:db8::/32');
const LIMITS = ['5/minute', '7/minute,90/day', '9/day:sliding', '3/hour,400/day'];

const planDraft = record(
  {
    limits: constantFrom(...LIMITS),
    count: constantFrom('key', 'account'),
    concurrency: constantFrom(null, 1, 40, 77),
    weight: constantFrom(1, 2, 1000),
    workers: constantFrom(null, 1, 60),
    addresses: option(record({ allow: uniqueArray(blocks), deny: uniqueArray(blocks) })),
  },
  { requiredKeys: ['count'] },
);
const keyPatch = record(
  {
    plan: constantFrom('basic', 'other'),
    label: option(constantFrom('one', 'two')),
    limits: constantFrom(...LIMITS),
    expires: constantFrom(null, '2999-01-01T00:00:00Z', '3000-06-01T12:00:00.5Z'),
    addresses: option(uniqueArray(blocks, { minLength: 1 })),
    scopes: uniqueArray(constantFrom('pets:read', 'pets:write')),
    metadata: fc.dictionary(constantFrom('team', 'stage'), constantFrom('a', 'b')),
  },
  { requiredKeys: ['label'] },
);

interface ActionOn {
  /** For counterexamples. */
  readonly call: string;
  readonly on: (id: string) => Action;
}

function setPlan(plan: string, draft: View): ActionOn {
  const make = () => admin('PUT', `/plans/${plan}`, { ...draft, create: true });
  const call = `${plan} ${JSON.stringify(draft)}`;
  return { call, on: () => ({ name: 'plans.set', thing: planOf(plan), make }) };
}

const onThing =
  (root: string, thingOf: (id: string) => Thing) =>
  (name: string, method: string, path: string, body?: View): ActionOn => ({
    call: `${name} ${JSON.stringify(body)}`,
    on: (id) => ({
      name,
      thing: thingOf(id),
      make: () => admin(method, `/${root}/${id}${path}`, body),
    }),
  });

const onKey = onThing('keys', keyOf);
const onBan = onThing('bans', banOf);
const updateKey = (patch: View) => onKey('keys.update', 'PATCH', '', patch);
const disableKey = onKey('keys.disable', 'POST', '/disable');
const enableKey = onKey('keys.enable', 'POST', '/enable');
const rotateKey = (overlap: string) =>
  onKey('keys.rotate', 'POST', '/rotate', { overlap, force: true });
const revokeKey = onKey('keys.revoke', 'DELETE', '');
const addBan = (duration: string) => onBan('bans.add', 'PUT', '', { duration, reason: 'abuse' });
const extendBan = (duration: string) =>
  onBan('bans.extend', 'POST', '/extend', { duration, reason: 'abuse' });
const liftBan = onBan('bans.lift', 'DELETE', '');

const actions: fc.Arbitrary<ActionOn> = fc.oneof(
  fc
    .tuple(constantFrom('free', 'team', 'custom', 'fresh'), planDraft)
    .map(([name, draft]) => setPlan(name, draft)),
  keyPatch.map(updateKey),
  constantFrom(disableKey, enableKey, liftBan),
  constantFrom('0s', '2h').map(rotateKey),
  constantFrom('1m', '2h').map(addBan),
  constantFrom('1m', '2h').map(extendBan),
);

/** Each action once, with a change. */
const EACH: readonly ActionOn[] = [
  setPlan('free', { concurrency: 40, addresses: { allow: ['10.0.0.0/8'] } }),
  setPlan('fresh', { limits: '5/minute' }),
  updateKey({
    label: 'one',
    limits: '9/day:sliding',
    scopes: ['pets:read'],
    metadata: { team: 'a' },
  }),
  disableKey,
  enableKey,
  rotateKey('2h'),
  addBan('1m'),
  extendBan('2h'),
  addBan('3h'),
  liftBan,
];

const newest = async () => (await admin('GET', '/audit?limit=1')).body.entries[0];

/** A restored key is disabled from then on. */
const withoutMoment = (view: View | null): View => ({ ...view, disabled: Boolean(view?.disabled) });

/** Returns whether the action has changed something. */
async function check({ name, thing, make }: Action): Promise<boolean> {
  // Each rotation has its own time.
  gateway.clock.pass(1);
  const [first, last] = [await thing.read(), await newest()];
  const { status } = await make();
  const entry = await newest();
  if (entry.number === last?.number) return false;
  expect([status, entry.action]).toEqual([200, name]);
  const { before, after } = entry;
  if (first === null) expect(before).toBeNull();
  else expect(before).toMatchObject(first);
  const changed = await thing.read();
  expect(after).toMatchObject(changed!);
  const restored = before && thing.restore(before, after);
  if (!restored) return true;
  expect(await restored).toMatchObject({ status: 200 });
  expect(withoutMoment(await thing.read())).toEqual(withoutMoment(first));
  // The next action begins after the change.
  await make();
  return true;
}

test('what the audit log says before a change is complete: restored, everything is as it was', async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(actions, { minLength: 4, maxLength: 8 }), async (made) => {
      const { id } = bodyOf(
        await admin('POST', '/keys', { account: 'acme', plan: 'basic', limits: '8/minute' }),
      );
      for (const action of made.map(({ on }) => on(id))) {
        if (await check(action)) seen.add(action.name);
      }
      await check(revokeKey.on(id));
    }),
    { numRuns: 20, examples: [[[...EACH]]] },
  );
  const changing =
    'bans.add bans.extend bans.lift keys.disable keys.enable keys.rotate keys.update';
  expect([...seen].sort()).toEqual([...changing.split(' '), 'plans.set']);
});

test('every operation that changes plans, keys or their bans is one of those, or says that nothing was there', () => {
  const { paths } = parse(readFileSync(ADMIN_CONTRACT, 'utf8')) as {
    paths: Record<string, Record<string, View>>;
  };
  const changing = Object.entries(paths)
    .filter(([path]) => /^\/(accounts|bans|keys|plans)\b/.test(path))
    .flatMap(([, item]) => Object.entries(item))
    .filter(([method]) => ['delete', 'patch', 'post', 'put'].includes(method))
    .map(([, { operationId }]) => operationId);
  const names = 'addBan disableKey enableKey extendBan liftBan rotateKey setPlan updateKey';
  const fromNothing = ['createKey', 'importKey', 'importKeys'];
  const changingNothing = ['identifyKey', 'simulatePlan'];
  const all = [...names.split(' '), 'revokeKey', ...fromNothing, ...changingNothing];
  expect(changing.sort()).toEqual(all.sort());
});

test.each<[string, View]>([
  ['/keys', {}],
  ['/keys/import', { hash: 'a'.repeat(64) }],
])('POST %s says that nothing was there', async (path, more) => {
  expect((await admin('POST', path, { account: 'acme', plan: 'basic', ...more })).status).toBe(201);
  expect((await newest()).before).toBeNull();
});
