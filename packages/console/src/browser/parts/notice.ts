import { type ComponentChildren, h } from 'preact';
import type { PeerCoverage } from '../../admin-api.ts';
import type { ApiError } from '../api/client.ts';
import { missingGateways } from '../sentences/gateways.ts';

export type Tone = 'good' | 'warn' | 'bad' | 'plain';

/** A remark with a tone that words say too, not colour alone. */
export function Notice({ tone = 'plain', children }: { tone?: Tone; children?: ComponentChildren }) {
  return h('div', { class: `notice ${tone}`, role: tone === 'bad' ? 'alert' : 'note' }, children);
}

/** What the admin API said of a call that failed. Nothing for `null`. */
export function Failure({ error }: { error: ApiError | null }) {
  if (error === null) return null;
  const details = error.details.filter(({ message }) => !error.message.includes(message));
  return h(Notice, { tone: 'bad' }, [
    h('p', null, error.message, ' ', h('code', null, error.code)),
    details.length > 0 &&
      h(
        'ul',
        null,
        details.map(({ pointer, message }) => h('li', { key: `${pointer} ${message}` }, `${pointer} ${message}`)),
      ),
  ]);
}

/** A word for how something is, in its tone: `ready`, `banned`. */
export function Badge({ tone = 'plain', children }: { tone?: Tone; children?: ComponentChildren }) {
  return h('span', { class: `badge ${tone}` }, children);
}

/** Which gateways an answer lacks. Nothing if it lacks none. */
export function Missing(answer: PeerCoverage) {
  const missing = missingGateways(answer);
  if (missing.length === 0) return null;
  return h(
    Notice,
    { tone: 'warn' },
    missing.map((sentence) => h('p', { key: sentence }, sentence)),
  );
}
