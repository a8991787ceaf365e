import { contractOf, type Operation, operationAt, operationById } from '../contract.ts';
import { operationHash } from '../places.ts';
import { sentences } from '../sentences.ts';
import type { ImmutableMap, Plugin, Rendered, System } from '../swagger-ui.ts';

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
          ...sentences(operation, contractOf(system)).map((sentence) => h('span', { key: sentence }, sentence)),
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

/** In UTC, as in the contract. */
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
