import { h } from 'preact';
import { useState } from 'preact/hooks';
import { type Api, urlOf } from '../model/api.ts';
import { groupTags, headingOf } from '../model/groups.ts';
import type { MakeRequest } from '../session.ts';
import { Markdown } from './markdown.ts';
import { OperationView } from './operation.ts';
import { nameless, SchemaView } from './schema.ts';
import { ApiContext, Choice, Folded, useApi } from './shared.ts';

interface AppProps {
  readonly api: Api;
  readonly request: MakeRequest;
  /** In Markdown. */
  readonly introduction: string | undefined;
}

export function App({ api, request, introduction }: AppProps) {
  const [server, setServer] = useState(0);
  const { info, tags = [], components, 'x-tagGroups': tagGroups } = api.root;
  const descriptionOf = (name: string) =>
    tags.find((tag) => tag.name === name)?.description;
  const groups = groupTags([...api.rows.keys()], tagGroups).map((group) =>
    h(
      'section',
      { key: group.name, class: 'tag-group', 'aria-label': group.name },
      [
        h('h2', null, group.name),
        // A tag of this name that belongs to the group has a place of its own.
        !group.tags.includes(group.name) &&
          h(Markdown, { text: descriptionOf(group.name) }),
        group.tags.map((tag, index) => [
          h(TagHeading, { key: tag, tag, index }),
          h(Markdown, { text: descriptionOf(tag) }),
          api.rows
            .get(tag)!
            .map((row) =>
              h(OperationView, { key: row.hash, row, server, request }),
            ),
        ]),
      ],
    ),
  );
  const schemas = Object.entries(components?.schemas ?? {});
  return h(ApiContext.Provider, { value: api }, [
    h(
      'div',
      { class: 'about' },
      h(Markdown, { text: introduction }),
      h(Markdown, { text: info.description }),
      h(Servers, {
        urls: api.servers.map(urlOf),
        chosen: server,
        onChoose: setServer,
      }),
    ),
    groups,
    schemas.length > 0 &&
      h('section', { class: 'schemas' }, [
        h('h2', null, 'Schemas'),
        schemas.map(([name, node]) =>
          h(Folded, {
            key: name,
            class: 'component',
            summary: h('code', null, name),
            children: () => h(SchemaView, { ...nameless(node), open: true }),
          }),
        ),
      ]),
  ]);
}

function TagHeading({ tag, index }: { tag: string; index: number }) {
  const rows = useApi().rows.get(tag)!;
  const isTag = rows.some(({ operation }) => operation.tags?.includes(tag));
  const heading = headingOf(tag, index, isTag);
  return heading && h('h3', null, heading);
}

interface ServersProps {
  readonly urls: readonly string[];
  readonly chosen: number;
  readonly onChoose: (index: number) => void;
}

/** The paths below which this gateway has the operations. */
function Servers({ urls, chosen, onChoose }: ServersProps) {
  const value = urls[chosen];
  if (value === undefined) return null;
  return h('div', { class: 'servers' }, [
    h(
      'p',
      null,
      'Server: ',
      h('code', null, new URL(value, location.origin).href),
    ),
    urls.length > 1 &&
      h(Choice, {
        label: 'Server',
        options: urls,
        value,
        onChoose: (url) => onChoose(urls.indexOf(url)),
      }),
  ]);
}
