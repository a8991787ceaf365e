import type { ImmutableMap, Plugin } from '../swagger-ui.ts';

/** The command that is shown and copied says where the key goes, not what it is: screens are shared, and so are notes. */
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
