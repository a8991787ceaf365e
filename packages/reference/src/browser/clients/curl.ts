import type { ImmutableMap, Plugin } from '../swagger-ui.ts';

/** The shown and copied command has a placeholder instead of the key, because people share screens and notes. */
export const curlWithoutKey: Plugin = () => ({
  wrapComponents: {
    curl: (Original, system) => (props) => {
      const request = props.request as ImmutableMap;
      const given = request.getIn(['headers', 'X-API-Key']) !== undefined;
      const shown = given ? request.setIn(['headers', 'X-API-Key'], 'YOUR_KEY') : request;
      return system.React.createElement(Original, { ...props, request: shown });
    },
  },
});
