import { indentJson, piecesOf } from '../json-text.ts';
import type { Plugin } from '../swagger-ui.ts';

/** Swagger UI uses JSON.parse, which rounds identifiers. */
export const exactJson: Plugin = () => ({
  wrapComponents: {
    responseBody: (Original, system) => (props) => {
      const { content, contentType } = props;
      if (typeof content !== 'string' || !/json/i.test(String(contentType)))
        return system.React.createElement(Original, props);
      const { createElement: h } = system.React;
      const HighlightCode = system.getComponent('HighlightCode', true);
      const settings = { language: 'json', canCopy: true, downloadable: true, fileName: 'response.json' };
      return h('div', null, h('h5', null, 'Response body'), h(HighlightCode, settings, indentJson(content)));
    },
    /** Has classes for light and dark, and scrolls by keyboard. */
    SyntaxHighlighter:
      (_Original, system) =>
      ({ language, className, children }) => {
        const { createElement: h } = system.React;
        const text = String(children ?? '');
        const code =
          language === 'json'
            ? piecesOf(text).map((piece, key) => h('span', { key, className: `json-${piece.kind}` }, piece.text))
            : text;
        return h('pre', { className, tabIndex: 0 }, h('code', null, code));
      },
  },
});
