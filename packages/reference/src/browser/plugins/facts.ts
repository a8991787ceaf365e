import { contractOf, type Operation, operationAt } from '../contract.ts';
import { operationHash } from '../places.ts';
import { sentences } from '../sentences.ts';
import { h, type ImmutableMap, type Plugin, type Rendered, system } from '../swagger-ui.ts';

export const facts: Plugin = {
  wrapComponents: {
    OperationSummaryPath: (Original) => (props) => {
      const shown = props.operationProps as ImmutableMap;
      const operation = operationAt(shown.get('path'), shown.get('method')) ?? {};
      return h(system.React.Fragment, null, h(Original, props), ...badges(operation));
    },
    parameters: (Original) => (props) => {
      const [path, method] = props.pathMethod as [string, string];
      const operation = operationAt(path, method) ?? {};
      const facts = sentences(operation, contractOf()).map((sentence) =>
        h('span', { key: sentence }, sentence),
      );
      return h(
        system.React.Fragment,
        null,
        operation.deprecated ? deprecation(operation) : null,
        h('p', { className: 'facts' }, ...facts),
        h(Original, props),
      );
    },
  },
};

function badges(operation: Operation): Rendered[] {
  const level = operation['x-stability-level'];
  const cost = operation['x-ratelimit-cost'] ?? 1;
  const badge = (kind: string, text: string) =>
    h('span', { key: kind, className: `badge ${kind}` }, text);
  return [
    ...(operation.deprecated ? [badge('deprecated', 'deprecated')] : []),
    ...(level === 'beta' || level === 'experimental' ? [badge(level, level)] : []),
    ...(cost === 1 ? [] : [badge('cost', `costs ${cost}`)]),
  ];
}

function deprecation(operation: Operation): Rendered {
  const { 'x-deprecated-at': since, 'x-sunset': sunset, 'x-successor': successor } = operation;
  return h(
    'div',
    { className: 'deprecation', role: 'note' },
    since === undefined
      ? h('strong', null, 'Deprecated.')
      : h('strong', null, 'Deprecated', date(since)),
    sunset === undefined ? null : h('span', null, ' Served until ', time(sunset), '.'),
    successor === undefined ? null : h('span', null, ' Use ', linkTo(successor), ' instead.'),
  );
}

function date(text: string): Rendered {
  const verb = Date.parse(text) > Date.now() ? ' from ' : ' since ';
  return h('span', null, verb, time(text), '.');
}

/** In UTC, as in the contract. */
function time(text: string): Rendered {
  const shown = new Date(text).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
  return h('time', { dateTime: text }, shown);
}

function linkTo(operationId: string): Rendered {
  for (const [path, item] of Object.entries(contractOf().paths)) {
    for (const [method, operation] of Object.entries(item)) {
      if (operation?.operationId !== operationId) continue;
      const href = operationHash(operation.tags?.[0] ?? 'default', { id: operationId });
      const code = h('code', null, `${method.toUpperCase()} ${path}`);
      return h('a', { href }, operation.summary ?? operationId, ' ', code);
    }
  }
  return h('code', null, operationId);
}
