import type { ImmutableMap, Plugin } from '../swagger-ui.ts';

/** The page asks by its session. The shown command asks as programs do: the admin API itself, with a token. */
export const curlWithToken: Plugin = () => ({
  wrapComponents: {
    curl: (Original, system) => (props) => {
      const request = props.request as ImmutableMap;
      const url = String(request.getIn(['url'])).replace('/console/api/', '/');
      const shown = request.setIn(['url'], url).setIn(['headers', 'Authorization'], 'Bearer YOUR_TOKEN');
      return system.React.createElement(Original, { ...props, request: shown });
    },
  },
});
