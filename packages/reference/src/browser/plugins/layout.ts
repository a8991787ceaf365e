import { contractOf } from '../contract.ts';
import { groupTags } from '../groups.ts';
import type { Plugin, Rendered, System } from '../swagger-ui.ts';

export const layout: Plugin = (system) => ({
  components: { Reference: () => reference(system) },
  wrapComponents: {
    operations: (Original, system) => (props) => {
      const { createElement: h, Fragment } = system.React;
      const tagged = system.specSelectors.taggedOperations().filter((tag) => sizeOf(tag) > 0);
      const { tags: described, 'x-tagGroups': tagGroups } = contractOf(system);
      const groups = groupTags(tagged.keySeq().toArray(), tagGroups).map(({ name, tags }) => {
        const description = described?.find((tag) => tag.name === name)?.description;
        const selectors = { ...system.specSelectors, taggedOperations: () => only(tags, system) };
        return h(
          'section',
          { key: name, className: 'tag-group', 'aria-label': name },
          h('h2', null, name),
          description === undefined ? null : h(system.getComponent('Markdown', true), { source: description }),
          h(Original, { ...props, specSelectors: selectors }),
        );
      });
      return h(Fragment, null, ...groups);
    },
  },
});

function reference(system: System): Rendered {
  const { createElement: h } = system.React;
  const status = system.specSelectors.loadingStatus();
  if (status === 'loading') return h('p', { className: 'loading' }, 'Drawing the operations …');
  const part = (name: string) => h(system.getComponent(name, true));
  if (status === 'failed') {
    return h(
      'div',
      { role: 'alert' },
      h('p', null, 'The contract could not be read. Try again later.'),
      part('errors'),
    );
  }
  const { description } = contractOf(system).info;
  return h(
    'div',
    { className: 'drawn' },
    description === undefined
      ? null
      : h('div', { className: 'about' }, h(system.getComponent('Markdown', true), { source: description })),
    part('errors'),
    part('operations'),
    part('Models'),
  );
}

function only(tags: readonly string[], system: System) {
  return system.specSelectors.taggedOperations().filter((_operations, tag) => tags.includes(tag));
}

function sizeOf(tag: unknown): number {
  const operations = (tag as { get(name: string): { size?: number } | undefined }).get('operations');
  return operations?.size ?? 0;
}
