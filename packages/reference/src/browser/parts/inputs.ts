import { h } from 'preact';
import type { Body, Parameter, SchemaNode } from '../model/document.ts';
import { faultsIn, type SchemaFault } from '../model/faults.ts';
import { isJson, parseExact } from '../model/json-text.ts';
import { bodyKind, type Draft, keyOf } from '../model/request.ts';
import { factsOf, isBinary, typeText } from '../model/schema.ts';
import { Field, FieldTable } from './fields.ts';
import { Markdown } from './markdown.ts';
import { ContentView } from './schema.ts';
import { Choice, Title, useApi } from './shared.ts';

export interface InputProps {
  readonly draft: Draft;
  /** Whether the reader fills in a request. */
  readonly isOpen: boolean;
  readonly onChange: (change: Partial<Draft>) => void;
}

export function Parameters({
  list,
  draft,
  isOpen,
  onChange,
}: InputProps & { readonly list: readonly Parameter[] }) {
  const api = useApi();
  if (list.length === 0) return h('p', null, 'No parameters');
  const rows = list.map((parameter) => {
    const { name, required, deprecated, content, description } = parameter;
    const node = parameter.schema ?? Object.values(content ?? {})[0]?.schema;
    const schema = api.schema(node);
    const key = keyOf(parameter);
    const values = (text: string) =>
      onChange({ values: { ...draft.values, [key]: text } });
    return {
      name,
      required,
      deprecated,
      place: `(${parameter.in})`,
      type: typeText(api, node),
      content: [
        h(Markdown, { text: description ?? schema.description }),
        h(
          'p',
          { class: 'facts' },
          factsOf(schema).map((fact) => h('span', { key: fact }, fact)),
        ),
        isOpen &&
          h(Field, {
            name,
            node,
            required,
            isJson: content !== undefined,
            value: draft.values[key] ?? '',
            onChange: values,
          }),
      ],
    };
  });
  return h(FieldTable, { label: 'Parameters', rows });
}

export function BodyInput({
  body,
  draft,
  isOpen,
  onChange,
}: InputProps & { readonly body: Body }) {
  const { content = {}, description, required } = body;
  const { mediaType } = draft;
  return h('div', { class: 'request-body' }, [
    h(
      Title,
      { text: 'Request body', required },
      h(Choice, {
        label: 'Media type',
        options: Object.keys(content),
        value: mediaType,
        onChoose: (type) => onChange({ mediaType: type }),
      }),
    ),
    h(Markdown, { text: description }),
    isOpen && h(Editor, { body, draft, isOpen, onChange }),
    h(ContentView, {
      key: isOpen,
      content,
      direction: 'request',
      type: mediaType,
      view: isOpen ? 'Schema' : 'Example',
    }),
  ]);
}

function Editor({
  body,
  draft,
  onChange,
}: InputProps & { readonly body: Body }) {
  const api = useApi();
  const { mediaType, text, fields, files } = draft;
  if (mediaType === null) return null;
  const kind = bodyKind(mediaType);
  const pick = (name: string, multiple: boolean, required?: boolean) =>
    h('input', {
      type: 'file',
      multiple,
      required,
      'aria-label': name || 'Request body',
      onChange: ({
        currentTarget,
      }: {
        readonly currentTarget: HTMLInputElement;
      }) =>
        onChange({
          files: { ...files, [name]: [...(currentTarget.files ?? [])] },
        }),
    });
  if (kind === 'file') return pick('', false, body.required);
  if (kind === 'text') {
    const editor = h('textarea', {
      class: 'body-text',
      'aria-label': 'Request body',
      spellCheck: false,
      required: body.required,
      value: text,
      onInput: ({
        currentTarget,
      }: {
        readonly currentTarget: HTMLTextAreaElement;
      }) => onChange({ text: currentTarget.value }),
    });
    return [
      editor,
      h(Missing, { node: body.content![mediaType]!.schema, mediaType, text }),
    ];
  }
  const { properties = {}, required = [] } = api.schema(
    body.content![mediaType]!.schema,
  );
  const rows = Object.entries(properties).map(([name, node]) => {
    const schema = api.schema(node);
    const isFile = kind === 'multipart' && isBinary(schema);
    const areFiles = kind === 'multipart' && isBinary(api.schema(schema.items));
    const change = (text: string) =>
      onChange({ fields: { ...fields, [name]: text } });
    return {
      name,
      required: required.includes(name),
      type: typeText(api, node),
      place: '',
      content: [
        h(Markdown, { text: schema.description }),
        isFile || areFiles
          ? pick(name, areFiles, required.includes(name))
          : h(Field, {
              name,
              node,
              required: required.includes(name),
              value: Object.hasOwn(fields, name) ? fields[name]! : '',
              onChange: change,
            }),
      ],
    };
  });
  return h(FieldTable, { label: 'Fields', rows });
}

interface MissingProps {
  readonly node: SchemaNode | undefined;
  readonly mediaType: string;
  readonly text: string;
}

const MOST_SHOWN = 5;

/** What the body in the editor lacks; a text that is not JSON is judged by the gateway. */
function Missing({ node, mediaType, text }: MissingProps) {
  const api = useApi();
  if (!/json/i.test(mediaType) || !isJson(text)) return null;
  const faults = faultsIn(api, node, 'request', parseExact(text));
  if (faults.length === 0) return null;
  const line = ({ pointer, need }: SchemaFault) =>
    h('li', { key: pointer + need }, [
      pointer !== '' && [h('code', null, pointer), ' '],
      need,
    ]);
  return h('div', { class: 'missing' }, [
    h('p', null, 'This body is not complete. It needs:'),
    h('ul', null, faults.slice(0, MOST_SHOWN).map(line)),
  ]);
}

export function AcceptInput({
  types,
  draft,
  onChange,
}: InputProps & { readonly types: readonly string[] }) {
  if (types.length < 2) return null;
  const onChoose = (accept: string) => onChange({ accept });
  const choice = {
    label: 'Media type of the response',
    options: types,
    value: draft.accept,
  };
  return h(Title, { text: 'Response' }, h(Choice, { ...choice, onChoose }));
}
