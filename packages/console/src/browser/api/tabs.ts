/**
 * Messages between the tabs of one console: `used`, a person is there; `session`, a sign-in or
 * sign-out.
 */
export type TabMessage = 'used' | 'session';

const channel = new BroadcastChannel('storegate console');

/** Other tabs hear it, this one does not. */
export const notifyTabs = (message: TabMessage) => channel.postMessage(message);

export function onTabMessage(
  message: TabMessage,
  listener: () => void,
  signal: AbortSignal,
): void {
  channel.addEventListener(
    'message',
    ({ data }) => data === message && listener(),
    { signal },
  );
}
