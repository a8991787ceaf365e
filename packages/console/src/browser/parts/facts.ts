import { type ComponentChildren, h } from 'preact';

/** Names with their values, under each other. Those whose value is null are left out. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return h(
    'dl',
    { class: 'facts' },
    facts
      .filter(([, value]) => value !== null)
      .flatMap(([name, value]) => [h('dt', { key: `${name} name` }, name), h('dd', { key: name }, value)]),
  );
}
