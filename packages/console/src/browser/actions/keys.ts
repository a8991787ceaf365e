import type { Key, KeyUpdate, NewKey, Plan } from '@storegate/admin-api';
import { limitsText } from '@storegate/admin-api/text';
import { type ComponentChildren, h } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../api/client.ts';
import { useApis, useDayAgo, useQuery } from '../api/hooks.ts';
import { clockTime } from '../format.ts';
import { type Action, textIn } from '../parts/action.ts';
import { ClientLink } from '../parts/data.ts';
import { Choice, DurationField, Field } from '../parts/fields.ts';
import { Failure } from '../parts/view.ts';

const patched = ({ id }: Key, body: KeyUpdate, reason: string) =>
  call('updateKey', { params: { id }, body, reason });

/** What can be done to a key that is not revoked. */
export const keyActions = (key: Key): readonly Action[] => [
  planAction(key),
  limitsAction(key),
  labelAction(key),
  rotateAction(key),
  statusAction(key, key.disabled === null ? 'Disable' : 'Enable'),
  statusAction(key, 'Revoke'),
];

function planAction(key: Key): Action {
  const own =
    key.limits === null
      ? ''
      : ` It keeps its own limits (${limitsText(key.limits)}), which override those of the plan.`;
  return {
    title: `Change the plan of ${key.id}`,
    verb: 'Change plan',
    effect: `${key.id} gets the limits of the plan with its next request. Usage is kept in windows of the same length. A change between plans that count keys and accounts resets usage and bans.${own}`,
    fields: h(PlanChoice, { value: key.plan }),
    async run(form, reason) {
      const { plan } = await patched(
        key,
        { plan: textIn(form, 'plan') },
        reason,
      );
      return `${key.id} is now on plan ${plan}.`;
    },
  };
}

const limitsAction = (key: Key): Action => ({
  title: `Own limits of ${key.id}`,
  verb: 'Own limits',
  effect: `Overrides the limits of plan ${key.plan} for ${key.id} with its next request. Leave empty to remove own limits. Usage is kept in windows of the same length.`,
  fields: h(Field, {
    label: 'Limits',
    name: 'limits',
    defaultValue: key.limits ?? '',
    maxLength: 1000,
    note: 'For example 600/minute,100000/day.',
  }),
  async run(form, reason) {
    const { limits } = await patched(
      key,
      { limits: textIn(form, 'limits') || null },
      reason,
    );
    return limits === null
      ? `${key.id} has no own limits.`
      : `${key.id} now has the limits ${limitsText(limits)}.`;
  },
});

const labelAction = (key: Key): Action => ({
  title: `Label of ${key.id}`,
  verb: 'Label',
  effect:
    'For operators only; it changes no decision. Leave empty to remove it.',
  fields: h(Field, {
    label: 'Label',
    name: 'label',
    defaultValue: key.label ?? '',
    maxLength: 200,
  }),
  async run(form, reason) {
    await patched(key, { label: textIn(form, 'label') || null }, reason);
    return null;
  },
});

function rotateAction(key: Key): Action {
  const overlaps = key.rotation?.overlapEnds ?? null;
  const earlier =
    overlaps === null
      ? ''
      : ` The previous secret works until ${clockTime(overlaps)}. End it now to rotate again.`;
  return {
    title: `Rotate ${key.id}`,
    verb: 'Rotate',
    effect: `Creates a new secret for ${key.id}, valid at once. The current one works until the overlap ends; response headers name its end. Limits, usage and a ban are kept.${earlier}`,
    fields: [
      h(DurationField, {
        label: 'Overlap',
        name: 'overlap',
        defaultValue: '24h',
        required: true,
        examples: '0s, 24h or 7d',
        note: 'How long both secrets work: 0s to 90d.',
      }),
      overlaps !== null &&
        h(
          'label',
          { class: 'check' },
          h('input', { type: 'checkbox', name: 'force' }),
          'End the previous secret now',
        ),
    ],
    async run(form, reason) {
      const body = {
        overlap: textIn(form, 'overlap'),
        ...(form.has('force') && { force: true }),
      };
      const { key: secret } = await call('rotateKey', {
        params: { id: key.id },
        body,
        reason,
      });
      return h(SecretOnce, { secret }, `This is the new secret of ${key.id}.`);
    },
  };
}

const STATUS_EFFECTS = {
  Disable: (id: string) =>
    `Requests with ${id} get 401 until the key is enabled. Limits, usage and a ban are kept.`,
  Enable: (id: string) =>
    `Accepts requests with ${id} again, with its remaining quota. A ban continues until its end.`,
  Revoke: (id: string) =>
    `Revokes ${id} permanently. Every request with one of its secrets gets 401. The record stays for the audit log. To pause a key, disable it.`,
};

const STATUS_CALLS = {
  Disable: 'disableKey',
  Enable: 'enableKey',
  Revoke: 'revokeKey',
} as const;

const statusAction = (key: Key, verb: keyof typeof STATUS_EFFECTS): Action => ({
  title: `${verb} ${key.id}`,
  verb,
  dangerous: verb !== 'Enable',
  effect: STATUS_EFFECTS[verb](key.id),
  async run(_form, reason) {
    await call(STATUS_CALLS[verb], { params: { id: key.id }, reason });
    return `${key.id} is ${verb.toLowerCase()}d.`;
  },
});

/** Fields of lists. */
const LISTS = [
  [
    'Addresses',
    'addresses',
    'Allowed client addresses or CIDR blocks, separated by commas. Empty: any.',
  ],
  [
    'Scopes',
    'scopes',
    'Scopes for operations that require them, separated by commas.',
  ],
  ['Metadata', 'metadata', 'Your own data: name=value, separated by commas.'],
] as const;

/** `account` and `plan` are filled in at first. */
export function newKeyAction({
  account,
  plan = 'free',
}: {
  account?: string;
  plan?: string;
}): Action {
  return {
    title:
      account === undefined
        ? 'Create a key'
        : `Create another key for ${account}`,
    verb: account === undefined ? 'Create a key' : 'Create another key',
    effect:
      'The key works at once. If the plan counts accounts, it shares their usage and bans.',
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
          maxLength: 1000,
          note: 'Overrides the plan, for example 600/minute,100000/day.',
        }),
        h(DurationField, {
          label: 'Expires in',
          name: 'expiresIn',
          examples: '12h or 90d',
          note: 'For example 90d. Empty: never.',
        }),
        LISTS.map(([label, name, note]) =>
          h(Field, { key: name, label, name, note }),
        ),
        h(ApisField, null),
      ]),
    ],
    async run(form, reason) {
      const { key: secret, ...key } = await call('createKey', {
        body: bodyOf(form),
        reason,
      });
      return h(SecretOnce, { secret }, [
        'This is the secret of ',
        h(ClientLink, { who: key.id }),
        `, plan ${key.plan}, account ${key.account}.`,
      ]);
    },
  };
}

function bodyOf(form: FormData): NewKey {
  const list = (name: string) =>
    textIn(form, name)
      .split(',')
      .map((one) => one.trim())
      .filter(Boolean);
  const [addresses, scopes, metadata, apis] = [
    list('addresses'),
    list('scopes'),
    list('metadata'),
    list('apis'),
  ];
  const given = ['label', 'limits', 'expiresIn']
    .map((name) => [name, textIn(form, name)])
    .filter(([, text]) => text);
  return {
    account: textIn(form, 'account'),
    plan: textIn(form, 'plan'),
    ...Object.fromEntries(given),
    ...(addresses.length > 0 && { addresses }),
    ...(scopes.length > 0 && { scopes }),
    ...(apis.length > 0 && { apis }),
    ...(metadata.length > 0 && {
      metadata: Object.fromEntries(metadata.map(pairOf)),
    }),
  };
}

/** With several APIs of which one had requests. */
function ApisField() {
  const hasApis = useApis('', { from: useDayAgo() }) !== null;
  return (
    hasApis &&
    h(Field, {
      label: 'APIs',
      name: 'apis',
      note: 'The only APIs that the key may be used for, separated by commas. Empty: all.',
    })
  );
}

/**
 * One without a value says so by an empty one, which the API takes; one without a name it refuses.
 */
function pairOf(text: string): [string, string] {
  const [name = '', ...value] = text.split('=');
  return [name.trim(), value.join('=').trim()];
}

/**
 * A choice of plans. It asks for them when it is shown: to count the keys of each, the gateway
 * reads all keys.
 */
function PlanChoice({ value }: { value: string }) {
  const { value: query, error } = useQuery('listPlans');
  const options = query?.plans.map(
    (plan) => [plan.name, planLabel(plan)] as const,
  ) ?? [[value, value] as const];
  return [
    h(Choice, { label: 'Plan', name: 'plan', value, options }),
    h(Failure, { error }),
  ];
}

function planLabel({ name, limits, count }: Plan): string {
  return `${name} · ${limits === null ? 'limits of each key' : limitsText(limits)}${count === 'account' ? ', counts accounts' : ''}`;
}

/** A secret that is shown this once, to be copied. It is nowhere kept: with this it is gone. */
function SecretOnce({
  secret,
  children,
}: {
  secret: string;
  children?: ComponentChildren;
}) {
  const [status, setStatus] = useState('');

  async function copy() {
    try {
      await navigator.clipboard.writeText(secret);
      setStatus('Copied.');
    } catch {
      // Browsers give no clipboard to pages without TLS on another machine.
      setStatus('Copy failed. Select the secret and copy it manually.');
    }
  }

  return h('div', { class: 'once' }, [
    h(
      'p',
      null,
      children,
      ' It is shown only once: copy it before you close this.',
    ),
    h('code', { class: 'secret' }, secret),
    h('p', { class: 'buttons' }, [
      h('button', { type: 'button', onClick: copy }, 'Copy the secret'),
      h('span', { role: 'status' }, status),
    ]),
  ]);
}
