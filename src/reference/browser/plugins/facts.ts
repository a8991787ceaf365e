import { contractOf, type Operation, operationAt, operationById } from '../contract.ts';
import { operationHash } from '../places.ts';
import { scopedLimits } from '../scoped-limits.ts';
import type { ImmutableMap, Plugin, Rendered, System } from '../swagger-ui.ts';

/** Shows our own fields of an operation as badges beside its path and sentences above its parameters. */
export const facts: Plugin = () => ({
  wrapComponents: {
    OperationSummaryPath: (Original, system) => (props) => {
      const { createElement: h, Fragment } = system.React;
      const shown = props.operationProps as ImmutableMap;
      const operation = operationAt(system, String(shown.get('path')), String(shown.get('method')));
      return h(Fragment, null, h(Original, props), ...badges(operation ?? {}, system));
    },
    parameters: (Original, system) => (props) => {
      const { createElement: h, Fragment } = system.React;
      const [path, method] = props.pathMethod as [string, string];
      const operation = operationAt(system, path, method) ?? {};
      return h(
        Fragment,
        null,
        operation.deprecated ? deprecation(operation, system) : null,
        h(
          'p',
          { className: 'facts' },
          ...[...sentences(operation), ...scopedLimits(operation, contractOf(system))].map((sentence) =>
            h('span', { key: sentence }, sentence),
          ),
        ),
        h(Original, props),
      );
    },
  },
});

function badges(operation: Operation, { React: { createElement: h } }: System): Rendered[] {
  const level = operation['x-stability-level'];
  const cost = operation['x-ratelimit-cost'] ?? 1;
  const badge = (kind: string, text: string) => h('span', { key: kind, className: `badge ${kind}` }, text);
  return [
    ...(operation.deprecated ? [badge('deprecated', 'deprecated')] : []),
    ...(level === 'beta' || level === 'experimental' ? [badge(level, level)] : []),
    ...(cost === 1 ? [] : [badge('cost', `costs ${cost}`)]),
  ];
}

function sentences(operation: Operation): string[] {
  const cost = operation['x-ratelimit-cost'] ?? 1;
  const scopes = operation['x-required-scopes'] ?? [];
  const most = operation['x-max-body-bytes'];
  return [
    cost === 0 ? 'Counts against no limit.' : `Counts as ${cost} ${cost === 1 ? 'request' : 'requests'}.`,
    ...(operation['x-stability-level'] === 'beta' ? ['Beta: it may still change, with notice.'] : []),
    ...(operation['x-stability-level'] === 'experimental' ? ['Experimental: it may change or go at any time.'] : []),
    ...(operation['x-try-it'] === false ? ['It cannot be tried from this page.'] : []),
    ...(scopes.length === 0
      ? []
      : [`Needs a key with ${scopes.length === 1 ? 'the scope' : 'the scopes'} ${scopes.join(', ')}.`]),
    ...(most === undefined ? [] : [`Takes a body of at most ${most.toLocaleString('en')} bytes.`]),
    ...(operation['x-storegate-unchecked-body'] === true ? ['Some bodies go on without a check.'] : []),
  ];
}

function deprecation(operation: Operation, system: System): Rendered {
  const { createElement: h } = system.React;
  const { 'x-deprecated-at': since, 'x-sunset': sunset, 'x-successor': successor } = operation;
  return h(
    'div',
    { className: 'deprecation', role: 'note' },
    h(
      'strong',
      null,
      since === undefined ? 'Deprecated.' : 'Deprecated',
      since === undefined ? null : date(since, system),
    ),
    sunset === undefined ? null : h('span', null, ' Served until ', time(sunset, system), '.'),
    successor === undefined ? null : h('span', null, ' Use ', linkTo(successor, system), ' instead.'),
  );
}

function date(text: string, system: System): Rendered {
  const { createElement: h } = system.React;
  const verb = Date.parse(text) > Date.now() ? ' from ' : ' since ';
  return h('span', null, verb, time(text, system), '.');
}

/** Dates of the contract are UTC, and the page shows them in UTC. */
function time(text: string, { React: { createElement: h } }: System): Rendered {
  const shown = new Date(text).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
  return h('time', { dateTime: text }, shown);
}

function linkTo(operationId: string, system: System): Rendered {
  const { createElement: h } = system.React;
  const found = operationById(contractOf(system), operationId);
  if (!found) return h('code', null, operationId);
  const { operation, method, path } = found;
  const href = operationHash(operation.tags?.[0] ?? 'default', { id: operationId });
  return h('a', { href }, operation.summary ?? operationId, ' ', h('code', null, `${method.toUpperCase()} ${path}`));
}
