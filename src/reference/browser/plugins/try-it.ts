import { operationAt } from '../contract.ts';
import type { Plugin } from '../swagger-ui.ts';

/** The contract decides whether readers can try an operation: `x-try-it: false` leaves the button out. */
export const tryIt: Plugin = (system) => ({
  components: {
    TryItOutButton: ({ enabled, onTryoutClick, onCancelClick }) => {
      const { createElement: h } = system.React;
      const button = enabled
        ? h('button', { type: 'button', className: 'quiet', onClick: onCancelClick }, 'Cancel')
        : h('button', { type: 'button', className: 'try', onClick: onTryoutClick }, 'Try it');
      return h('div', { className: 'try-out' }, button);
    },
    // Readers give the key once, at the top of the page.
    authorizeOperationBtn: () => null,
  },
  statePlugins: {
    spec: {
      wrapSelectors: {
        allowTryItOutFor: (original, system) => (state, path, method) =>
          operationAt(system, path!, method!)?.['x-try-it'] !== false && original(state, path!, method!),
      },
    },
  },
});
