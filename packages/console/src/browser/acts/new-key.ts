import { h } from 'preact';
import type { Key, NewKey } from '../../admin-api.ts';
import { call } from '../api/client.ts';
import type { Act } from '../parts/act.ts';
import { ClientLink } from '../parts/client-link.ts';
import { Field } from '../parts/fields.ts';
import { SecretOnce } from '../parts/secret.ts';
import { PlanChoice } from './plan-choice.ts';

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
