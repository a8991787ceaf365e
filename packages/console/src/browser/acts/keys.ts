import { h } from 'preact';
import type { Key, KeyWithSecret } from '../../admin-api.ts';
import { call, path } from '../api/client.ts';
import { clockTime } from '../format.ts';
import type { Act } from '../parts/act.ts';
import { Field } from '../parts/fields.ts';
import { SecretOnce } from '../parts/secret.ts';
import { PlanChoice } from './plan-choice.ts';

const keyPath = ({ id }: Key) => path`/keys/${id}`;

/** Changes fields of a key; `done` gets the key as it is then. */
async function patched(key: Key, body: object, reason: string, done: (key: Key) => void): Promise<Key> {
  const changed = await call<Key>('PATCH', keyPath(key), { body, reason });
  done(changed);
  return changed;
}

export function planAct(key: Key, done: (key: Key) => void): Act {
  const own = key.limits === null ? '' : ` It keeps its own limits (${key.limits}) in place of those of any plan.`;
  return {
    title: `Change the plan of ${key.id}`,
    verb: 'Change plan',
    effect: `From the next request on ${key.id} has the limits of the plan. What was used stays used, in windows of the same length; between a plan that counts keys and one that counts accounts it does not move along, and neither does a ban.${own}`,
    fields: h(PlanChoice, { value: key.plan }),
    run: async (form, reason) => {
      const { plan } = await patched(key, { plan: form.get('plan') }, reason, done);
      return `${key.id} is on plan ${plan} now.`;
    },
  };
}

export function limitsAct(key: Key, done: (key: Key) => void): Act {
  return {
    title: `Own limits of ${key.id}`,
    verb: 'Own limits',
    effect: `From the next request on these limits hold for ${key.id} in place of those of its plan, ${key.plan}. An empty field takes own limits away. What was used stays used, in windows of the same length.`,
    fields: h(Field, {
      label: 'Limits',
      name: 'limits',
      defaultValue: key.limits ?? '',
      maxLength: 500,
      note: 'Such as 600/minute,100000/day.',
    }),
    run: async (form, reason) => {
      const { limits } = await patched(key, { limits: String(form.get('limits')).trim() || null }, reason, done);
      return limits === null ? `${key.id} has no own limits.` : `${key.id} has the limits ${limits} now.`;
    },
  };
}

export function labelAct(key: Key, done: (key: Key) => void): Act {
  return {
    title: `Label of ${key.id}`,
    verb: 'Label',
    effect: 'The label is for people: no request is decided otherwise. An empty field takes it away.',
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
    effect: `From now on every request with ${key.id} is refused with 401, until somebody enables it again. Its limits, what was used of them, and a ban stay.`,
    run: async (_form, reason) => {
      done(await call<Key>('POST', `${keyPath(key)}/disable`, { reason }));
      return `${key.id} is disabled.`;
    },
  };
}

export function enableAct(key: Key, done: (key: Key) => void): Act {
  return {
    title: `Enable ${key.id}`,
    verb: 'Enable',
    effect: `Requests with ${key.id} are taken again, with what is left of its limits. A ban goes on until it ends.`,
    run: async (_form, reason) => {
      done(await call<Key>('POST', `${keyPath(key)}/enable`, { reason }));
      return `${key.id} is enabled.`;
    },
  };
}

export function rotateAct(key: Key, done: (key: Key) => void): Act {
  const overlaps = key.rotation?.overlapEnds ?? null;
  const earlier =
    overlaps === null
      ? ''
      : ` The secret before the one in force works until ${clockTime(overlaps)}: until then this is refused, unless you end it now.`;
  return {
    title: `Rotate ${key.id}`,
    verb: 'Rotate',
    effect: `${key.id} gets a new secret, which works at once. The one in force works until the overlap ends; answers to it tell its callers when that is. Limits, what was used of them, and a ban stay.${earlier}`,
    fields: [
      h(Field, {
        key: 'overlap',
        label: 'Overlap',
        name: 'overlap',
        defaultValue: '24h',
        required: true,
        pattern: '(0|[1-9][0-9]{0,8})(ms|s|m|h|d)',
        title: 'A number with a unit, such as 0s, 24h or 7d.',
        note: 'How long both secrets work: 0s to 90d.',
      }),
      overlaps !== null &&
        h(
          'label',
          { key: 'force', class: 'check' },
          h('input', { type: 'checkbox', name: 'force' }),
          'End the older secret now',
        ),
    ],
    run: async (form, reason) => {
      const body = { overlap: String(form.get('overlap')).trim(), ...(form.has('force') && { force: true }) };
      const { key: secret, ...rotated } = await call<KeyWithSecret>('POST', `${keyPath(key)}/rotate`, { body, reason });
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
    effect: `${key.id} ends for good: from now on every request with any of its secrets is refused with 401, and nobody can enable it again. Its record stays, so that the audit log can be read. To switch it off for a while, disable it.`,
    run: async (_form, reason) => {
      done(await call<Key>('DELETE', keyPath(key), { reason }));
      return `${key.id} is revoked.`;
    },
  };
}
