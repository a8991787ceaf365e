import { h } from 'preact';
import type { Operation } from '../model/document.ts';
import { sentences } from '../model/sentences.ts';
import { useApi } from './shared.ts';

export function Badges({ operation }: { readonly operation: Operation }) {
  const {
    deprecated,
    'x-stability-level': level,
    'x-ratelimit-cost': cost = 1,
  } = operation;
  const badge = (kind: string, text: string) =>
    h('span', { key: kind, class: `badge ${kind}` }, text);
  return [
    deprecated && badge('deprecated', 'deprecated'),
    (level === 'beta' || level === 'experimental') && badge(level, level),
    cost !== 1 && badge('cost', `costs ${cost}`),
  ];
}

export function Facts({ operation }: { readonly operation: Operation }) {
  const { root } = useApi();
  const facts = sentences(operation, root).map((text) =>
    h('span', { key: text }, text),
  );
  return [
    operation.deprecated && h(Deprecation, { operation }),
    h('p', { class: 'facts' }, facts),
  ];
}

function Deprecation({ operation }: { readonly operation: Operation }) {
  const {
    'x-deprecated-at': since,
    'x-sunset': sunset,
    'x-successor': successor,
  } = operation;
  const verb =
    since !== undefined && Date.parse(since) > Date.now()
      ? ' from '
      : ' since ';
  const begin = since === undefined ? '.' : [verb, h(Day, { at: since }), '.'];
  return h('div', { class: 'deprecation', role: 'note' }, [
    h('strong', null, 'Deprecated', begin),
    sunset !== undefined &&
      h('span', null, ' Served until ', h(Day, { at: sunset }), '.'),
    successor !== undefined &&
      h('span', null, ' Use ', h(Successor, { id: successor }), ' instead.'),
  ]);
}

/** In UTC, as in the contract. */
function Day({ at }: { readonly at: string }) {
  const text = new Date(at).toLocaleDateString('en-GB', {
    dateStyle: 'long',
    timeZone: 'UTC',
  });
  return h('time', { dateTime: at }, text);
}

function Successor({ id }: { readonly id: string }) {
  const rows = [...useApi().rows.values()].flat();
  const row = rows.find(({ operation }) => operation.operationId === id);
  if (row === undefined) return h('code', null, id);
  const name = h('code', null, `${row.method} ${row.path}`);
  return h('a', { href: row.hash }, row.operation.summary ?? id, ' ', name);
}
