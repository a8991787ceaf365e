import { h } from 'preact';
import { useState } from 'preact/hooks';
import type {
  Content,
  Direction,
  Media,
  SchemaNode,
} from '../model/document.ts';
import { examplesIn, mediaText } from '../model/example.ts';
import { bodyKind } from '../model/request.ts';
import { factsOf, type Member, membersOf, typeText } from '../model/schema.ts';
import { Markdown } from './markdown.ts';
import { Choice, Code, Folded, Star, useApi } from './shared.ts';

/** A schema and its description; its members are drawn when it is opened. */
export function SchemaView({
  name,
  node,
  required,
  isName,
  open = false,
}: Member & { open?: boolean }) {
  const api = useApi();
  const schema = api.schema(node);
  const members = membersOf(api, node);
  const title = [
    name && h(isName ? 'code' : 'span', { class: 'member' }, name),
    required && h(Star, null),
    h('span', { class: 'type' }, typeText(api, node)),
    factsOf(schema).map((fact) =>
      h('span', { key: fact, class: 'fact' }, fact),
    ),
  ];
  const about = h(Markdown, { text: schema.description });
  const list = () =>
    h(
      'ul',
      null,
      members.map((member) =>
        h('li', { key: member.name }, h(SchemaView, member)),
      ),
    );
  return members.length === 0
    ? h('div', { class: 'schema' }, h('p', null, title), about)
    : h(
        'div',
        { class: 'schema' },
        h(Folded, { class: 'members', open, summary: title, children: list }),
        about,
      );
}

export const nameless = (node: SchemaNode): Member => {
  return { name: '', node, required: false, isName: false };
};

interface ContentProps {
  readonly content: Content;
  readonly direction: Direction;
  /** The media type in view, if it is chosen elsewhere. */
  readonly type?: string | null;
  readonly view?: View;
}

type View = 'Example' | 'Schema';

/** Examples and schemas of each media type. */
export function ContentView({
  content,
  direction,
  type,
  view = 'Example',
}: ContentProps) {
  const types = Object.keys(content);
  const [own, setOwn] = useState(types[0] ?? null);
  const shown = type === undefined ? own : type;
  if (shown === null) return null;
  return h('div', { class: 'content' }, [
    type === undefined &&
      h(Choice, {
        label: 'Media type',
        options: types,
        value: shown,
        onChoose: setOwn,
      }),
    h(MediaView, {
      key: shown,
      type: shown,
      media: content[shown]!,
      direction,
      first: view,
    }),
  ]);
}

interface MediaProps {
  readonly type: string;
  readonly media: Media;
  readonly direction: Direction;
  readonly first: View;
}

function MediaView({ type, media, direction, first }: MediaProps) {
  const api = useApi();
  const [selected, setView] = useState<string>(first);
  const named = examplesIn(api, media.examples);
  const [name, setName] = useState(named[0]?.name ?? null);
  const node = media.schema ?? media.itemSchema;
  const chosen = named.find((example) => example.name === name)?.value;
  const views = bodyKind(type) === 'text' ? ['Example', 'Schema'] : ['Schema'];
  const view = views.includes(selected) ? selected : 'Schema';
  const text = () => mediaText(api, media, type, direction, chosen);
  return [
    node !== undefined &&
      views.length > 1 &&
      h(Choice, {
        label: 'View',
        options: views,
        value: view,
        onChoose: setView,
      }),
    node !== undefined &&
      view === 'Schema' &&
      h(SchemaView, { ...nameless(node), open: true }),
    view === 'Example' &&
      named.length > 1 &&
      h(Choice, {
        label: 'Examples',
        options: named.map(({ name }) => name),
        value: name,
        onChoose: setName,
      }),
    view === 'Example' &&
      h(Code, { text: text(), label: 'Example', isJson: /json/i.test(type) }),
  ];
}
