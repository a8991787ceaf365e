import { h, type ImmutableMap, type Plugin } from '../swagger-ui.ts';

/**
 * People share screens and notes, so a placeholder replaces secrets. Programs use a token instead
 * of the console's session.
 */
export const curlWithoutSecrets: Plugin = {
  wrapComponents: {
    curl: (Original) => (props) =>
      h(Original, { ...props, request: shown(props.request as ImmutableMap) }),
  },
};

function shown(request: ImmutableMap): ImmutableMap {
  const url = String(request.getIn(['url']));
  if (url.includes('/console/api/')) {
    const own = request.setIn(['url'], url.replace('/console/api/', '/'));
    return own.setIn(['headers', 'Authorization'], 'Bearer YOUR_TOKEN');
  }
  const header = document.getElementById('key')?.dataset.header ?? '';
  if (request.getIn(['headers', header]) === undefined) return request;
  return request.setIn(
    ['headers', header],
    header === 'Authorization' ? 'Bearer YOUR_KEY' : 'YOUR_KEY',
  );
}
