import { contractOf } from '../contract.ts';
import { groupTags } from '../groups.ts';
import { h, markdown, type Plugin, type Rendered, system } from '../swagger-ui.ts';

export const layout: Plugin = {
  components: { Reference: reference },
  wrapComponents: {
    operations: (Original) => (props) => {
      const tagged = system.specSelectors.taggedOperations().filter((tag) => sizeOf(tag) > 0);
      const { tags: described, 'x-tagGroups': tagGroups } = contractOf();
      const groups = groupTags(tagged.keySeq().toArray(), tagGroups).map(({ name, tags }) => {
        // A tag of this name that belongs to the group has a place of its own.
        const heading = tags.includes(name)
          ? undefined
          : described?.find((tag) => tag.name === name);
        const description = heading?.description;
        const selectors = { ...system.specSelectors, taggedOperations: () => only(tags) };
        return h(
          'section',
          { key: name, className: 'tag-group', 'aria-label': name },
          h('h2', null, name),
          description === undefined ? null : markdown(description),
          h(Original, { ...props, specSelectors: selectors }),
        );
      });
      return h(system.React.Fragment, null, ...groups);
    },
  },
};

function reference(): Rendered {
  const status = system.specSelectors.loadingStatus();
  if (status === 'loading') return h('p', { className: 'loading' }, 'Drawing the operations …');
  const part = (name: string) => h(system.getComponent(name, true));
  if (status === 'failed') {
    const words = h('p', null, 'The contract could not be read. Try again later.');
    return h('div', { role: 'alert' }, words, part('errors'));
  }
  const { description } = contractOf().info;
  return h(
    'div',
    { className: 'drawn' },
    description === undefined ? null : h('div', { className: 'about' }, markdown(description)),
    part('errors'),
    part('operations'),
    part('Models'),
  );
}

function only(tags: readonly string[]) {
  return system.specSelectors.taggedOperations().filter((_operations, tag) => tags.includes(tag));
}

function sizeOf(tag: unknown): number {
  const operations = (tag as { get(name: string): { size?: number } | undefined }).get(
    'operations',
  );
  return operations?.size ?? 0;
}
