import { type Headers, h, type Plugin, type Rendered } from '../swagger-ui.ts';
import { refusal } from './limits.ts';

/**
 * Keeps the focus when a request is sent or a response cleared, and announces responses to screen
 * readers.
 */
export const announcements: Plugin = {
  wrapComponents: {
    /**
     * A disabled button would lose the focus, so this one stays enabled and does nothing during a
     * request.
     */
    execute: (Original) => (props) => {
      const busy = props.disabled === true;
      const ref = (around: Element | null) =>
        around?.querySelector('button')?.setAttribute('aria-disabled', String(busy));
      const onClickCapture = (event: Event) => busy && event.stopPropagation();
      return around(h(Original, { ...props, disabled: false }), { ref, onClickCapture });
    },
    /** The button disappears with the response, so the focus moves to its neighbour. */
    clear: (Original) => (props) => {
      const onClick = ({ target }: { readonly target: Element }) =>
        target.closest('.opblock')?.querySelector<HTMLElement>('.execute')?.focus();
      return around(h(Original, props), { onClick });
    },
  },
  statePlugins: {
    spec: {
      wrapActions: {
        setResponse: (original) => (path, method, result) => {
          announce(`${String(method).toUpperCase()} ${path}: ${outcome(result as Result)}`);
          return original(path, method, result);
        },
      },
    },
  },
};

function around(button: Rendered, props: object): Rendered {
  return h('span', { className: 'around', ...props }, button);
}

/** Screen readers announce changes of existing regions only, so the page has an empty one. */
function announce(text: string): void {
  document.getElementById('announcement')?.replaceChildren(text);
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
}

/** Swagger UI treats responses other than 2xx, and missing responses, as errors. */
type Result =
  | Answer
  | {
      readonly error: true;
      readonly err: { readonly message: string; readonly response?: Answer };
    };

function outcome(result: Result): string {
  if (!('error' in result)) return responseText(result);
  return result.err.response
    ? responseText(result.err.response)
    : `no answer. ${result.err.message}`;
}

function responseText({ status, headers }: Answer): string {
  const left = headers['x-ratelimit-remaining'];
  const limits = refusal(status, headers) ?? (left === undefined ? null : `${left} left`);
  return limits === null ? `answer ${status}.` : `answer ${status}. ${limits}.`;
}
