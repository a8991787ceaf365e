import { h } from 'preact';
import type { Key, KeyUpdate, NewKey, Plan } from '../../admin-api.ts';
import { call } from '../api/client.ts';
import { useAnswer } from '../api/use-answer.ts';
import { clockTime } from '../format.ts';
import type { Act } from '../parts/act.ts';
import { ClientLink } from '../parts/client-link.ts';
import { Choice, Field } from '../parts/fields.ts';
import { Failure } from '../parts/notice.ts';
import { SecretOnce } from '../parts/secret.ts';

const keyPath = ({ id }: Key) => `/keys/${encodeURIComponent(id)}` as const;

/** Changes fields of a key; `done` gets the key as it is then. */
async function patched(key: Key, body: KeyUpdate, reason: string, done: (key: Key) => void): Promise<Key> {
  const changed = await call('PATCH', keyPath(key), { body, reason });
  done(changed);
  return changed;
}

export function planAct(key: Key, done: (key: Key) => void): Act {
  const own = key.limits === null ? '' : ` It keeps its own limits (${key.limits}), which override those of the plan.`;
  return {
    title: `Change the plan of ${key.id}`,
    verb: 'Change plan',
    effect: `${key.id} gets the limits of the plan with its next request. Usage is kept in windows of the same length. A change between plans that count keys and accounts resets usage and bans.${own}`,
    fields: h(PlanChoice, { value: key.plan }),
    run: async (form, reason) => {
      const { plan } = await patched(key, { plan: String(form.get('plan')) }, reason, done);
      return `${key.id} is now on plan ${plan}.`;
    },
  };
}

export function limitsAct(key: Key, done: (key: Key) => void): Act {
  return {
    title: `Own limits of ${key.id}`,
    verb: 'Own limits',
    effect: `Overrides the limits of plan ${key.plan} for ${key.id} with its next request. Leave empty to remove own limits. Usage is kept in windows of the same length.`,
    fields: h(Field, {
      label: 'Limits',
      name: 'limits',
      defaultValue: key.limits ?? '',
      maxLength: 500,
      note: 'For example 600/minute,100000/day.',
    }),
    run: async (form, reason) => {
      const { limits } = await patched(key, { limits: String(form.get('limits')).trim() || null }, reason, done);
      return limits === null ? `${key.id} has no own limits.` : `${key.id} now has the limits ${limits}.`;
    },
  };
}

export function labelAct(key: Key, done: (key: Key) => void): Act {
  return {
    title: `Label of ${key.id}`,
    verb: 'Label',
    effect: 'For operators only; it changes no decision. Leave empty to remove it.',
    fields: h(Field, { label: 'Label', name: 'label', defaultValue: key.label ?? '', maxLength: 200 }),
    run: async (form, reason) => {
      await patched(key, { label: String(form.get('label')).trim() || null }, reason, done);
      return null;
    },
  };
}

export function disableAct(key: Key, done: (key: Key) => void): Act {
  return {
    title: `Disable ${key.id}`,
    verb: 'Disable',
    dangerous: true,
    effect: `Requests with ${key.id} get 401 until the key is enabled. Limits, usage and a ban are kept.`,
    run: async (_form, reason) => {
      done(await call('POST', `${keyPath(key)}/disable`, { reason }));
      return `${key.id} is disabled.`;
    },
  };
}

export function enableAct(key: Key, done: (key: Key) => void): Act {
  return {
    title: `Enable ${key.id}`,
    verb: 'Enable',
    effect: `Accepts requests with ${key.id} again, with its remaining quota. A ban continues until its end.`,
    run: async (_form, reason) => {
      done(await call('POST', `${keyPath(key)}/enable`, { reason }));
      return `${key.id} is enabled.`;
    },
  };
}

export function rotateAct(key: Key, done: (key: Key) => void): Act {
  const overlaps = key.rotation?.overlapEnds ?? null;
  const earlier =
    overlaps === null ? '' : ` The previous secret works until ${clockTime(overlaps)}. End it now to rotate again.`;
  return {
    title: `Rotate ${key.id}`,
    verb: 'Rotate',
    effect: `Creates a new secret for ${key.id}, valid at once. The current one works until the overlap ends; response headers name its end. Limits, usage and a ban are kept.${earlier}`,
    fields: [
      h(Field, {
        label: 'Overlap',
        name: 'overlap',
        defaultValue: '24h',
        required: true,
        pattern: '(0|[1-9][0-9]{0,8})(ms|s|m|h|d)',
        title: 'A number with a unit, for example 0s, 24h or 7d.',
        note: 'How long both secrets work: 0s to 90d.',
      }),
      overlaps !== null &&
        h('label', { class: 'check' }, h('input', { type: 'checkbox', name: 'force' }), 'End the previous secret now'),
    ],
    run: async (form, reason) => {
      const body = { overlap: String(form.get('overlap')).trim(), ...(form.has('force') && { force: true }) };
      const { key: secret, ...rotated } = await call('POST', `${keyPath(key)}/rotate`, { body, reason });
      done(rotated);
      return h(SecretOnce, { secret }, `This is the new secret of ${key.id}.`);
    },
  };
}

export function revokeAct(key: Key, done: (key: Key) => void): Act {
  return {
    title: `Revoke ${key.id}`,
    verb: 'Revoke',
    dangerous: true,
    effect: `Revokes ${key.id} permanently. Every request with one of its secrets gets 401. The record stays for the audit log. To pause a key, disable it.`,
    run: async (_form, reason) => {
      done(await call('DELETE', keyPath(key), { reason }));
      return `${key.id} is revoked.`;
    },
  };
}

/** What is filled in at first. */
interface Draft {
  readonly account?: string;
  readonly plan?: string;
}

/** `done` gets the key that was made. */
export function newKeyAct({ account, plan = 'free' }: Draft, done: (key: Key) => void): Act {
  return {
    title: account === undefined ? 'Create a key' : `Create another key for ${account}`,
    verb: account === undefined ? 'Create a key' : 'Create another key',
    effect: 'The key works at once. If the plan counts accounts, it shares their usage and bans.',
    fields: [
      h(Field, {
        label: 'Account',
        name: 'account',
        defaultValue: account,
        required: true,
        maxLength: 64,
      }),
      h(PlanChoice, { value: plan }),
      h(Field, {
        label: 'Label',
        name: 'label',
        maxLength: 200,
        note: 'Purpose of the key. Optional.',
      }),
      h('details', null, [
        h('summary', null, 'Limits, expiry, addresses, scopes, metadata'),
        h(Field, {
          label: 'Own limits',
          name: 'limits',
          maxLength: 500,
          note: 'Overrides the plan, for example 600/minute,100000/day.',
        }),
        h(Field, {
          label: 'Expires in',
          name: 'expiresIn',
          pattern: '(0|[1-9][0-9]{0,8})(ms|s|m|h|d)',
          title: 'A number with a unit, for example 12h or 90d.',
          note: 'For example 90d. Empty: never.',
        }),
        h(Field, {
          label: 'Addresses',
          name: 'addresses',
          note: 'Allowed client addresses or CIDR blocks, separated by commas. Empty: any.',
        }),
        h(Field, {
          label: 'Scopes',
          name: 'scopes',
          note: 'Scopes for operations that require them, separated by commas.',
        }),
        h(Field, { label: 'Metadata', name: 'metadata', note: 'Your own data: name=value, separated by commas.' }),
      ]),
    ],
    run: async (form, reason) => {
      const { key: secret, ...key } = await call('POST', '/keys', { body: bodyOf(form), reason });
      done(key);
      return h(SecretOnce, { secret }, [
        'This is the secret of ',
        h(ClientLink, { who: key.id }),
        `, plan ${key.plan}, account ${key.account}.`,
      ]);
    },
  };
}

function bodyOf(form: FormData): NewKey {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const list = (name: string) =>
    text(name)
      .split(',')
      .map((one) => one.trim())
      .filter(Boolean);
  const [addresses, scopes, metadata] = [list('addresses'), list('scopes'), list('metadata')];
  const [label, limits, expiresIn] = [text('label'), text('limits'), text('expiresIn')];
  return {
    ...{ account: text('account'), plan: text('plan') },
    ...(label && { label }),
    ...(limits && { limits }),
    ...(expiresIn && { expiresIn }),
    ...(addresses.length > 0 && { addresses }),
    ...(scopes.length > 0 && { scopes }),
    ...(metadata.length > 0 && { metadata: Object.fromEntries(metadata.map(pairOf)) }),
  };
}

/** One without a value says so by an empty one, which the API takes; one without a name it refuses. */
function pairOf(text: string): [string, string] {
  const [name = '', ...value] = text.split('=');
  return [name.trim(), value.join('=').trim()];
}

/**
 * A choice of the plans in force, named `plan` in its form. It asks for them when it is shown: to count the keys of each, the gateway reads
 * all keys.
 */
export function PlanChoice({ value }: { value: string }) {
  const { value: answer, error } = useAnswer('/plans');
  const plans = answer?.plans ?? [];
  const known = plans.some(({ name }) => name === value);
  return [
    h(Choice, {
      label: 'Plan',
      name: 'plan',
      value: known || plans.length === 0 ? value : plans[0]!.name,
      options: plans.length === 0 ? [[value, value]] : plans.map((plan) => [plan.name, inWords(plan)] as const),
    }),
    h(Failure, { error }),
  ];
}

function inWords({ name, limits, count }: Plan): string {
  return `${name} · ${limits ?? 'limits of each key'}${count === 'account' ? ', counts accounts' : ''}`;
}
