import {
  h,
  type ImmutableMap,
  markdown,
  type Plugin,
  type Rendered,
  system,
} from '../swagger-ui.ts';

export const responses: Plugin = {
  wrapComponents: {
    headers: (Original) => (props) => {
      const names = (props.headers as ImmutableMap).keySeq().toArray();
      return h(
        'details',
        { className: 'folded' },
        h('summary', null, `Headers (${names.length})`),
        h(Original, props),
      );
    },
    response: (Original) => (props) => {
      const response = props.response as ImmutableMap;
      const isRefusal = /^[45]/.test(String(props.code)) && hasErrorObject(response);
      return isRefusal ? refusal(props.code, response) : h(Original, props);
    },
  },
};

function refusal(code: unknown, response: ImmutableMap): Rendered {
  const codes = codesOf(response).map(explained);
  const headers = response.get('headers');
  return h(
    'tr',
    { className: 'response refusal', 'data-code': code },
    h('td', { className: 'response-col_status' }, code),
    h(
      'td',
      { className: 'response-col_description' },
      markdown(response.get('description')),
      codes.length === 0 ? null : h('p', { className: 'codes' }, 'For example ', ...codes),
      headers
        ? h(system.getComponent('headers'), { headers, getComponent: system.getComponent })
        : null,
    ),
  );
}

/** Links a code of the gateway to its advice; the operation explains the codes of the service. */
function explained(name: string): Rendered {
  const code = h('code', { key: name }, name);
  return document.getElementById(`errors-${name}`)
    ? h('a', { key: name, href: `#errors-${name}` }, code)
    : code;
}

/** {code, message, status}, with or without more fields. */
function hasErrorObject(response: ImmutableMap): boolean {
  const schema = ['content', 'application/json', 'schema', 'properties'];
  return ['code', 'message', 'status'].every(
    (name) => response.getIn([...schema, name]) !== undefined,
  );
}

interface Examples {
  readonly example?: { readonly code?: string };
  readonly examples?: Readonly<Record<string, { readonly value?: { readonly code?: string } }>>;
}

function codesOf(response: ImmutableMap): string[] {
  const media = response.getIn(['content', 'application/json']) as ImmutableMap;
  const { example, examples = {} } = media.toJS() as Examples;
  const all = [example, ...Object.values(examples).map(({ value }) => value)].map(
    (value) => value?.code,
  );
  return [...new Set(all.filter((code) => typeof code === 'string'))];
}
